import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct BadInputTests {
    /// Arguments, and the error message on standard error after `tidelog: `.
    static let refusals: [([String], String)] = [
        (
            ["create", "Nope", "{}"],
            "There is no entity set Nope. The entity sets are Customers, Orders, Owners, Cars, Cities, Mayors, Fathers, Children and 7 more."
        ),
        (
            ["create", "Customers", #"{"Nope":1}"#],
            "Customers: Shop.Customer has no property Nope. Correct the JSON; no operation was performed."
        ),
        (
            ["create", "Customers", #"{"Name":5}"#],
            "Customers/Name: Expected a value of type Edm.String, not a number. Correct the JSON; no operation was performed."
        ),
        (
            ["create", "Customers", #"{"Name":null}"#],
            "Customers/Name must not be null. Set a value, or leave the property unchanged."
        ),
        (
            ["create", "Customers", #"{"Name":"x","Rating":1234567}"#],
            "Customers/Rating has 7 digits, more than Precision 5."
        ),
        (
            ["create", "Customers", #"{"Name":"x","Address":{"Town":"B"}}"#],
            "Customers/Address: Shop.Address has no property Town. Correct the JSON; no operation was performed."
        ),
        (
            ["create", "Customers", #"{"Name":"x","Address":{"Zip":"12345678901"}}"#],
            "Customers/Address/Zip is longer than MaxLength 10."
        ),
        (
            ["create", "Customers", #"{"Name":"x","Name":"y"}"#],
            "Customers/Name occurs twice. Correct the JSON; no operation was performed."
        ),
        (
            ["create", "Customers", #"{"Name":"x","Orders":[{"Nope":1}]}"#],
            "Customers/Orders/0/Nope: Shop.Order has no property Nope. Correct the JSON; no operation was performed."
        ),
        (
            ["create", "Customers", #"{"Name":"x""#],
            "The value is not JSON: The document ends too early. (byte 11) Write a JSON object in single quotes."
        ),
        (["create", "Customers", "5"], "The value is a number, not an object with properties."),
        (
            ["create", "Orders", "{}", "--bind", "Nope=Customers(1)"],
            "Orders has no navigation property Nope. Its navigation properties are Customer."
        ),
        (
            ["create", "Orders", "{}", "--bind", "Customer=Orders(1)"],
            "Shop.Order/Customer leads to Shop.Customer, not to Shop.Order."
        ),
        (["create", "Orders", "{}", "--in", "Customers(1)/Nope"], "Customers has no navigation property Nope."),
        (
            ["create", "Orders", "{}", "--in", "Customers(99)/Orders"],
            "Customers(CustomerID=99) is not in the store. Download the entity first, or check the key."
        ),
        (["update", "Customers(1)"], "The update changes nothing."),
        (
            ["update", "Customers(1)", #"{"Orders":null}"#],
            "Customers/Orders is a navigation property and cannot be null. Use 'unlink' to remove a link."
        ),
        (
            ["update", "Customers", #"{"Name":"x"}"#],
            #"No entity has the name "Customers". Use a readLink such as Customers(~7), or a name that an earlier line defines with "as"."#
        ),
        (["link", "Customers(1)", "Nope", "Orders(1)"], "Customers has no navigation property Nope."),
        (
            ["link", "Customers(1)", "Orders", "Customers(2)"],
            "Shop.Customer/Orders leads to Shop.Order, not to Shop.Customer."
        ),
        (
            ["unlink", "Customers(2)", "Orders", "Orders(1)"],
            "Customers(2) is not linked to Orders(1) by Orders. Load Orders to see the links."
        ),
        (
            ["delete", "Customers(99)"],
            "Customers(CustomerID=99) is not in the store. Download the entity first, or check the key."
        ),
        (
            ["query", "Customers(99)"],
            "Customers(99) is not in the store. Download the entity first, or check the key."
        ),
        (
            ["query", "$crossjoin(Customers,Orders)"],
            "The store does not support $crossjoin. Request it from the service."
        ),
        (["query", "$metadata?$format=json"], "$metadata does not accept query options."),
        (["query", "Customers?$filter=Nope eq 1"], "Shop.Customer has no property Nope. In: Nope"),
        (["pull", "Nope"], "There is no defining query Nope."),
        (
            ["apply", "missing.jsonl"],
            "missing.jsonl cannot be read: No such file or directory. Check the name of the file."
        ),
    ]

    @Test func `an operation that the model forbids is refused with a sentence, and nothing is logged`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4)
        for (arguments, sentence) in Self.refusals {
            let run = try workspace.run(arguments)
            #expect(run.status == 1, "\(arguments)")
            #expect(run.output == "", "\(arguments)")
            #expect(run.error == "tidelog: \(sentence)\n", "\(arguments)")
        }
        #expect(try workspace.output("status") == "No pending operations.\n")
    }

    @Test(arguments: [
        ["frobnicate"], ["create"], ["create", "Customers", "{}", "--bind", "Customer"],
        ["create", "Orders", "{}", "--in", "Customers"], ["init", "http://127.0.0.1:1/", "--query", "=bad"],
        ["init", "notaurl"],
        ["init", "http://127.0.0.1:1/", "--query", "A=Customers", "--query", "A=Orders"],
        ["init", "http://user:secret@127.0.0.1:1/"], ["query"],
    ])
    func `invalid arguments are usage errors that show no password`(_ arguments: [String]) throws {
        let workspace = try Workspace()
        let run = try workspace.run(arguments)
        #expect(run.status == 64)
        #expect(run.error.hasPrefix("tidelog: "))
        #expect(!run.error.contains("secret"))
        #expect(!FileManager.default.fileExists(atPath: workspace.path(".tidelog")))
    }

    @Test func `help and version exit with 0`() throws {
        let workspace = try Workspace()
        #expect(try workspace.output("--help").contains("Exit codes: 0 success, 1 failure, 2 damage, 64 usage, 75 "))
        #expect(try workspace.output("--version").split(separator: ".").count == 3)
    }

    @Test func `a command without a store names the next step`() throws {
        let workspace = try Workspace()
        let run = try workspace.tidelog("status", "--store", "elsewhere")
        #expect(
            run
                == Run(
                    status: 1, output: "",
                    error:
                        "tidelog: The store does not exist (elsewhere). Pass the service root to create it ('tidelog init').\n"
                )
        )
        #expect(!FileManager.default.fileExists(atPath: workspace.path("elsewhere")))
    }

    @Test func `a store belongs to one service`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4)
        let other = try workspace.tidelog("init", server.root(.v2))
        #expect(other.status == 1)
        #expect(
            other.error
                == "tidelog: The store belongs to the service http://HOST/v4/, not to http://HOST/v2/ (.tidelog). "
                + "Use another directory for another service.\n")
    }

    // MARK: Services

    static let services: [(status: String, headers: [String], body: String, sentence: String)] = [
        (
            "401 Unauthorized", ["WWW-Authenticate: Basic realm=\"x\""], "no",
            "The service denied access with status 401 (GET http://HOST/$metadata). Check the credentials. "
                + "They are TIDELOG_TOKEN, or TIDELOG_USER and TIDELOG_PASSWORD, in the environment."
        ),
        (
            "500 Internal Server Error", [], #"{"error":{"code":"x","message":"boom"}}"#,
            "The service responded with status 500: boom (GET http://HOST/$metadata)."
        ),
        (
            "200 OK", ["Content-Type: text/html"], "<html><body>Sign in</body></html>",
            "The response of the service is not OData metadata: line 1, column 1: The document is an HTML page, possibly a login page, instead "
                + "of metadata (GET http://HOST/$metadata). Check the service root: the URL without $metadata."
        ),
        (
            "200 OK", [],
            #"<edmx:Edmx Version="5.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices><Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm"/></edmx:DataServices></edmx:Edmx>"#,
            "The response of the service is not OData metadata: line 1, column 1: The Edmx version \"5.0\" is neither 4.0 nor 4.01 (GET"
        ),
    ]

    @Test(arguments: services.indices)
    func `init with an address that is not a service creates no store`(_ index: Int) throws {
        let expected = Self.services[index]
        let service = try CannedService(status: expected.status, headers: expected.headers, body: expected.body)
        let workspace = try Workspace()
        workspace.origin = String(service.root.dropLast())
        let run = try workspace.tidelog("init", service.root)
        #expect(run.status == 1)
        #expect(run.error.hasPrefix("tidelog: \(expected.sentence)"), "\(run.error)")
        #expect(!FileManager.default.fileExists(atPath: workspace.path(".tidelog")))
    }

    @Test func `one invalid query prevents the creation of the store and of all queries`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace()
        func initialise() throws -> Run {
            try workspace.tidelog(
                "init", server.root(.v4), "--query", "Customers=Customers", "--query", "Orders=Orders?$expand=Nothing")
        }
        let run = try initialise()
        #expect(run.status == 1)
        #expect(run.error.contains("The defining query Orders cannot be used."))
        #expect(!FileManager.default.fileExists(atPath: workspace.path(".tidelog")))

        _ = try workspace.output("init", server.root(.v4), "--query", "Products=Products")
        #expect(try initialise().status == 1)
        #expect(try workspace.output("init", server.root(.v4)).contains("1 defining query:\n  Products = Products\n"))
    }

    @Test func `commands do not change the log if the service cannot be reached`() throws {
        let server = try SandboxServer(isReused: false)
        let workspace = try Workspace.pulled(server, .v4)
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"offline"}"#)
        let before = try Data(contentsOf: logFile(workspace))
        server.stop()
        for command in ["push", "pull"] {
            let run = try workspace.tidelog(command)
            #expect(run.status == 1)
            #expect(run.error.contains("the server refused the connection"))
            #expect(run.error.hasSuffix("Try again when the service can be reached; no data is lost.\n"))
        }
        #expect(try workspace.output("status", "--json").contains(#""state":"pending","since":"#))
        #expect(try Data(contentsOf: logFile(workspace)).starts(with: before))
    }

    // MARK: Damage

    private func logFile(_ workspace: Workspace) throws -> URL {
        let folder = workspace.folder.appendingPathComponent(".tidelog/log")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        return folder.appendingPathComponent(try #require(names.first))
    }

    @Test func `a damaged log is a distinct error that names the file, and the log is not changed`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4)
        let file = try logFile(workspace)
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 0xFF
        try bytes.write(to: file)
        for name in ["views.sqlite", "views.sqlite-wal", "views.sqlite-shm"] {
            try? FileManager.default.removeItem(atPath: workspace.path(".tidelog/\(name)"))
        }
        let run = try workspace.tidelog("query", "Customers")
        #expect(run.status == 2)
        #expect(run.output == "")
        #expect(run.error.contains(".tidelog/log/\(file.lastPathComponent) is damaged at offset"))
        #expect(
            run.error.hasSuffix(
                "Run 'tidelog repair' to see which records can be recovered; 'tidelog repair --in-place' recovers them.\n"
            ))
        #expect(try Data(contentsOf: file) == bytes)
    }

    @Test func `damaged views are rebuilt with a notice`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4)
        let before = try workspace.output("query", "Customers", "--json")
        try workspace.write(String(repeating: "no database", count: 1_000), to: ".tidelog/views.sqlite")
        let run = try workspace.tidelog("query", "Customers", "--json")
        #expect(run.status == 0)
        #expect(run.output == before)
        #expect(run.error.hasPrefix("tidelog: The views were rebuilt from the log"))
    }
}
