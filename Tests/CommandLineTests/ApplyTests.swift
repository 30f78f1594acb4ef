import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct ApplyTests {
    /// Defining queries. No property contains a many-to-many relationship, so its links are only available with
    /// `$expand`.
    static let queries = ["C=Customers", "O=Orders", "P=Products?$expand=Suppliers", "S=Suppliers"]

    /// Every operation, with entities addressed by name and by readLink, and within a change set.
    static let operations = """
        {"op":"create","set":"Customers","as":"c","value":{"Name":"Apply"}}
        {"op":"create","set":"Orders","as":"o","value":{"Note":"bound","PlacedAt":"2024-05-05T10:00:00Z"},"bind":{"Customer":"c"}}
        {"op":"create","set":"Orders","as":"p","value":{"Note":"linked"}}

        {"op":"link","from":"c","property":"Orders","to":"p"}
        {"op":"createRelated","in":"c","property":"Orders","as":"r","value":{"Note":"related"}}
        {"op":"create","set":"Customers","as":"d","value":{"Name":"Deep","Orders":[{"Note":"deep 1"},{"Note":"deep 2"}]}}
        {"op":"changeSet","operations":[{"op":"create","set":"Customers","as":"e","value":{"Name":"Set"}},{"op":"create","set":"Orders","as":"q","value":{"Note":"in the set"},"bind":{"Customer":"e"}}]}
        {"op":"update","entity":"e","value":{"Name":"Set, changed"}}
        {"op":"unlink","from":"o","property":"Customer"}
        {"op":"relink","from":"q","property":"Customer","to":"Customers(1)"}
        {"op":"create","set":"Orders","value":{"Note":"by the foreign key","CustomerID":2}}
        {"op":"create","set":"Products","value":{"Name":"Many","Price":1},"bind":{"Suppliers":["Suppliers(1)","Suppliers(2)"]}}
        {"op":"delete","entity":"Orders(4)"}
        """

    @Test(arguments: SandboxServer.Version.allCases)
    func `every operation of a file is acknowledged, visible in queries, sent and stored by the service`(
        _ version: SandboxServer.Version
    ) throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, version, queries: Self.queries)
        try workspace.write(Self.operations, to: "ops.jsonl")
        #expect(
            try workspace.tidelog("apply", "ops.jsonl")
                == Run(
                    status: 0,
                    output: """
                        15 Customers(~13)
                        16 Orders(~14)
                        17 Orders(~15)
                        18 Customers(~13)
                        19 Orders(~16)
                        20 Customers(~17)
                        21 Customers(~20), 22 Orders(~21)
                        23 Customers(~20)
                        24 Orders(~14)
                        25 Orders(~21)
                        26 Orders(~22)
                        27 Products(~23)
                        28 Orders(4)

                        """))
        let before = try holdings(workspace)
        #expect(
            before == [
                "Ada Lovelace: engine parts, in the set, punched cards",
                "Grace Hopper: by the foreign key, nanoseconds",
                "O'Neil & Söhne: ", "Apply: linked, related", "Deep: deep 1, deep 2", "Set, changed: ",
            ])
        let pushed = try workspace.tidelog("push")
        #expect(pushed.status == 0, "\(pushed)")
        #expect(pushed.output.hasPrefix("14 confirmed, 0 rejected, 0 in doubt"))
        #expect(try workspace.output("status") == "No pending operations.\n")
        // A readLink from before the assignment of the key still resolves to the entity.
        #expect(try workspace.output("query", "Customers(~20)?$select=Name", "--json").contains("Set, changed"))
        _ = try workspace.output("pull")
        #expect(try holdings(workspace) == before)
        // A new store reads the same data from the service.
        let fresh = try Workspace.pulled(server, version, queries: Self.queries)
        for query in ["Customers?$expand=Orders", "Orders?$expand=Customer", "Products?$expand=Suppliers"] {
            #expect(try facts(workspace, query) == facts(fresh, query), "\(query)")
        }
    }

    /// Returns `Name: Note, Note` for each customer.
    private func holdings(_ workspace: Workspace) throws -> [String] {
        try workspace.output("query", "Customers?$expand=Orders", "--json").split(separator: "\n").map { line in
            let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let notes = (json?["Orders"] as? [[String: Any]] ?? []).compactMap { $0["Note"] as? String }
            return "\(json?["Name"] ?? ""): \(notes.sorted().joined(separator: ", "))"
        }
    }

    /// Returns the lines of a query without the entity IDs, which each store assigns itself, and without the order that
    /// follows from them.
    private func facts(_ workspace: Workspace, _ query: String) throws -> [String] {
        try workspace.output("query", query, "--json").split(separator: "\n").map { line in
            text(try JSONSerialization.jsonObject(with: Data(line.utf8)))
        }.sorted()
    }

    private func text(_ json: Any) -> String {
        switch json {
        case let object as [String: Any]:
            let members = object.filter { $0.key != "@entityID" }.sorted { $0.key < $1.key }
            return "{" + members.map { "\($0.key): \(text($0.value))" }.joined(separator: ", ") + "}"
        case let array as [Any]: return "[" + array.map(text).sorted().joined(separator: ", ") + "]"
        default: return "\(json)"
        }
    }

    @Test func `an invalid line stops the command with its number, has no effect and keeps the previous lines`() throws
    {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        let input = """
            {"op":"create","set":"Customers","as":"c","value":{"Name":"kept"}}

            {"op":"create","set":"Orders","value":{"Amount":"much"},"bind":{"Customer":"c"}}
            {"op":"create","set":"Customers","value":{"Name":"never"}}
            """
        let run = try workspace.tidelog("apply", "-", "--json", input: input)
        #expect(
            run
                == Run(
                    status: 1, output: #"{"sequence":9,"readLink":"Customers(~8)"}"# + "\n",
                    error: """
                        tidelog: standard input, line 3: Orders/Amount: "much" is not a valid Edm.Decimal of OData 4.0. Correct the JSON; \
                        no operation was performed.

                        """))
        #expect(try workspace.output("query", "Customers/$count") == "4\n")
        #expect(try workspace.output("query", "Orders/$count") == "4\n")
    }

    @Test func `a change set and its names take effect completely or not at all`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        let set = #"{"op":"changeSet","operations":[{"op":"create","set":"Customers","as":"c","value":{"Name":"x"}},"#
        let refused = try workspace.tidelog(
            "apply", "-", input: set + #"{"op":"link","from":"c","property":"Orders","to":"Orders(99)"}]}"#)
        #expect(refused.status == 1)
        #expect(refused.output == "")
        #expect(refused.error.contains("line 1: Orders(OrderID=99) is not in the store"))
        let misspelt = try workspace.tidelog(
            "apply", "-", input: set + #"{"op":"link","from":"c","property":"Orders","to":"o"}]}"#)
        #expect(
            misspelt.error
                == #"tidelog: standard input, line 1: Operation 2 of the change set: No entity has the name "o". "#
                + #"Use a readLink such as Customers(~7), or a name that an earlier line defines with "as"."# + "\n")
        #expect(try workspace.output("query", "Customers/$count") == "3\n")
        #expect(try workspace.output("status") == "No pending operations.\n")
    }

    @Test func `a change set can leave a mandatory end open until its last operation`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4)
        let single = try workspace.tidelog("apply", "-", input: #"{"op":"create","set":"Owners","value":{"Name":"o"}}"#)
        #expect(single.status == 1)
        let pair =
            #"{"op":"changeSet","operations":[{"op":"create","set":"Owners","as":"o","value":{"Name":"o"}},"#
            + #"{"op":"create","set":"Cars","value":{"Model":"m"},"bind":{"Owner":"o"}}]}"#
        let run = try workspace.tidelog("apply", "-", "--json", input: pair)
        #expect(
            run.output
                == #"{"sequence":49,"readLink":"Owners(~37)","operations":[{"sequence":49,"readLink":"Owners(~37)"},"#
                + #"{"sequence":50,"readLink":"Cars(~38)"}]}"# + "\n")
        #expect(try workspace.tidelog("push").status == 0)
    }

    @Test func `each line is acknowledged before the next one arrives`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        let pipe = Pipe()
        let running = try workspace.start(["apply", "-"], inputHandle: pipe.fileHandleForReading)
        for number in 1...3 {
            pipe.fileHandleForWriting.write(
                Data((#"{"op":"create","set":"Customers","value":{"Name":"x"}}"# + "\n").utf8))
            while workspace.read(running.output).count(where: { $0 == "\n" }) < number, running.process.isRunning {
                usleep(1_000)
            }
            #expect(workspace.read(running.output).count { $0 == "\n" } == number)
        }
        // Only one writer at a time can open the store.
        let second = try workspace.tidelog("status")
        #expect(second.status == 1)
        #expect(
            second.error
                == "tidelog: The store is in use: process \(running.process.processIdentifier) holds the lock .tidelog/LOCK. "
                + "Close it there first; commands that only read work meanwhile.\n")
        try pipe.fileHandleForWriting.close()
        running.process.waitUntilExit()
        #expect(running.process.terminationStatus == 0)
    }
}
