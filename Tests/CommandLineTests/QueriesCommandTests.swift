import Foundation
import TestSupport
import Testing

/// Tests of `tidelog queries`, and of the messages of `pull` about queries.
@Suite(.timeLimit(.minutes(20))) struct QueriesCommandTests {
    private func object(_ json: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    }

    @Test func `the queries command lists, adds, replaces and removes defining queries`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        #expect(try workspace.tidelog("queries").lines == ["C = Customers"])
        let added = try workspace.output("queries", "add", "P", "Photos", "--streams")
        #expect(added == "P = Photos (with streams)\nRun 'tidelog pull P' to download it.\n")
        let json = try workspace.tidelog("queries", "--json").lines.map(object)
        #expect(json.map { $0["name"] as? String } == ["C", "P"])
        #expect(json.map { $0["streams"] as? Bool } == [false, true])
        let replaced = try workspace.output("queries", "add", "P", "Photos?$filter=PhotoID eq 1", "--json")
        #expect(try object(replaced)["query"] as? String == "Photos?$filter=PhotoID eq 1")
        #expect(try workspace.output("queries", "remove", "C") == "Removed C.\n")
        #expect(try workspace.tidelog("query", "Customers", "--json").lines.isEmpty)
        #expect(try workspace.output("queries", "list").hasPrefix("P = "))
    }

    @Test func `an invalid defining query is refused, and so is the removal of an unknown one`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        let refused = try workspace.tidelog("queries", "add", "X", "Nothing")
        #expect(refused.status == 1)
        #expect(refused.error.contains("The defining query X cannot be used."))
        #expect(try workspace.tidelog("queries", "remove", "X").error.contains("There is no defining query X."))
        #expect(try workspace.tidelog("queries").lines == ["C = Customers"])
    }

    @Test func `pull names each query that failed and prints the result of the remaining ones`() throws {
        let server = try SandboxServer(
            faults: #"""
                [{"effect":"refuse","status":404,"method":"GET","url":"Photos"},
                 {"effect":"refuse","status":404,"method":"GET","url":"Suppliers"}]
                """#)
        let workspace = try Workspace()
        workspace.origin = server.origin
        _ = try workspace.output(
            "init", server.root(.v4), "--query", "P=Photos", "--query", "O=Orders", "--query", "S=Suppliers")
        let run = try workspace.tidelog("pull")
        #expect(run.status == 1)
        #expect(run.output.hasPrefix("Read "))
        #expect(run.error.contains("tidelog: P: The resource does not exist at the service (404): "))
        #expect(run.error.contains("tidelog: S: The resource does not exist at the service (404): "))
        #expect(try workspace.tidelog("query", "Orders", "--json").lines.count == 4)
    }

    @Test func `pull --json reports failed queries and settings for unknown queries`() throws {
        let server = try SandboxServer(
            faults: #"""
                [{"effect":"refuse","status":404,"method":"GET","url":"Photos"},
                 {"effect":"refuse","status":404,"method":"GET","url":"Suppliers"}]
                """#)
        let workspace = try Workspace()
        _ = try workspace.output(
            "init", server.root(.v4), "--query", "P=Photos", "--query", "O=Orders", "--query", "S=Suppliers")
        try workspace.write("[defining_query]\nname = Nothing\ntrack_deltas = ALWAYS\n", to: "queries.conf")
        let run = try workspace.tidelog("pull", "--json", "--config", "queries.conf")
        #expect(run.status == 1)
        let report = try object(run.output)
        #expect((report["failures"] as? [[String: Any]])?.map { $0["name"] as? String } == ["P", "S"])
        #expect((report["queries"] as? [[String: Any]])?.map { $0["name"] as? String } == ["O"])
        #expect(report["unknownSections"] as? [String] == ["Nothing"])
        #expect((report["unusable"] as? [Any])?.isEmpty == true)
        #expect((report["withoutStreams"] as? [Any])?.isEmpty == true)
        #expect(
            try workspace.output("pull", "--config", "queries.conf").contains(
                "The configuration file has a section for Nothing, which is not a defining query of the store."))
    }

    @Test func `pull prints the number of entities that left the store`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["P=Photos", "O=Orders"])
        let other = try Workspace.pulled(server, .v4, queries: ["O=Orders"])
        _ = try other.output("delete", "Orders(4)")
        _ = try other.output("push")
        #expect(
            try workspace.tidelog("pull", "O").lines == [
                "Read 3 entities in 1 page.", "Removed 1 entity that no query covers any more.",
            ])
    }
}
