import Foundation
import TestSupport
import Testing

/// Tests of `--at`: a store as of an earlier record or time.
@Suite(.timeLimit(.minutes(20))) struct HistoricalStateCommandTests {
    /// Returns a store with three customers and four orders in the records up to 8, then an update and a create.
    private func workspace(_ server: SandboxServer) throws -> Workspace {
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Eve"}"#)
        _ = try workspace.output("create", "Orders", #"{"Note":"x"}"#)
        return workspace
    }

    private func name(_ workspace: Workspace, at point: String) throws -> String {
        try workspace.output("query", "Customers(1)/Name/$value", "--at", point)
    }

    @Test func `query --at reads the store as of an operation`() throws {
        let workspace = try workspace(try SandboxServer())
        #expect(try workspace.output("query", "Orders/$count", "--at", "6") == "0\n")
        #expect(try name(workspace, at: "8") == "Ada Lovelace\n")
        #expect(try name(workspace, at: "9") == "Eve\n")
        #expect(try workspace.output("query", "Orders/$count", "--at", "9") == "4\n")
        #expect(try workspace.output("query", "Orders/$count", "--at", "1000") == "5\n")
    }

    @Test func `status --at and plan --at print the queue and the requests as of an operation`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        let plan = try workspace.output("plan")
        #expect(try workspace.output("push").contains("2 confirmed"))
        #expect(try workspace.output("status", "--at", "8") == "No pending operations.\n")
        #expect(try workspace.tidelog("status", "--at", "9").lines.last == "1 pending.")
        #expect(try workspace.tidelog("status", "--at", "10").lines.last == "2 pending.")
        #expect(try workspace.output("plan", "--at", "10") == plan)
        #expect(try workspace.output("status") == "No pending operations.\n")
    }

    @Test func `--at accepts a time, and a time before the first record has no store`() throws {
        let workspace = try workspace(try SandboxServer())
        #expect(try name(workspace, at: "2999-01-01T00:00:00") == "Eve\n")
        let before = try workspace.tidelog("query", "Customers", "--at", "2001-01-01T00:00:00Z")
        #expect(before.status == 1)
        #expect(before.error.hasPrefix("tidelog: The store had no metadata yet as of operation 0"))
        let wrong = try workspace.tidelog("query", "Customers", "--at", "yesterday")
        #expect(wrong.status == 64)
        #expect(wrong.error.contains("The value 'yesterday' is invalid for '--at <seq|time>'"))
    }

    @Test(arguments: [
        ["at", "8", "query", "--", "Customers(1)/Name/$value"], ["at", "8", "--", "query", "Customers(1)/Name/$value"],
        ["at", "--", "8", "query", "Customers(1)/Name/$value"],
        ["at", "8", "--store", ".tidelog", "--", "query", "Customers(1)/Name/$value"],
        ["at", "8", "query", "--store", ".tidelog", "--", "Customers(1)/Name/$value"],
        ["query", "--at", "8", "--", "Customers(1)/Name/$value"],
    ])
    func `arguments after two hyphens belong to the inner command`(arguments: [String]) throws {
        let workspace = try workspace(try SandboxServer())
        let run = try workspace.run(arguments)
        #expect(run.error == "")
        #expect(run.output == "Ada Lovelace\n")
        #expect(try workspace.tidelog("at", "8", "status", "--", "more").status == 64)
    }

    @Test func `time travel changes no file`() throws {
        let workspace = try workspace(try SandboxServer())
        let log = try workspace.output("log", "--all", "--json")
        let digest = try workspace.output("query", "Customers", "--json")
        for point in ["0", "5", "9", "1000"] { _ = try workspace.tidelog("status", "--at", point) }
        #expect(try workspace.output("log", "--all", "--json") == log)
        #expect(try workspace.output("query", "Customers", "--json") == digest)
        #expect(try workspace.tidelog("verify").status == 0)
    }
}
