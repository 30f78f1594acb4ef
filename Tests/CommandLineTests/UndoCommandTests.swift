import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct UndoCommandTests {
    private func workspace() throws -> (SandboxServer, Workspace) {
        let server = try SandboxServer()
        return (server, try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"]))
    }

    @Test func `undo prints the dependent operations, redo restores them, and log lists both`() throws {
        let (server, workspace) = try workspace()
        _ = try workspace.output("create", "Customers", #"{"Name":"Neu"}"#)
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Ada"}"#)
        _ = try workspace.output("create", "Orders", #"{"Note":"n"}"#, "--bind", "Customer=Customers(~8)")
        let undone = """
            9 create Customers(~8)
            11 create Orders(~9) (needs Customers(~8), which operation 9 creates)

            """
        #expect(
            try workspace.output("undo", "9", "--dry-run")
                == undone + "2 operations would be undone, 1 of them because of dependencies.\n")
        #expect(try workspace.output("status").hasSuffix("3 pending.\n"))
        #expect(
            try workspace.output("undo", "9") == undone
                + "2 operations undone, 1 of them because of dependencies.\n")
        #expect(try workspace.output("status").hasSuffix("1 pending, 2 undone.\n"))
        #expect(try workspace.output("query", "Customers?$filter=Name eq 'Neu'").contains("0 entities."))
        #expect(try workspace.output("status", "--undone").contains("9  create Customers(~8)  undone"))
        #expect(
            try workspace.output("redo", "--last")
                == "9 create Customers(~8)\n11 create Orders(~9)\n2 operations redone.\n")
        #expect(try workspace.output("undo", "--entity", "Customers(1)").hasPrefix("10 update Customers(~1)\n1 op"))
        let log = try workspace.output("log")
        #expect(log.contains("  undone     update Customers(~1)"))
        #expect(log.contains("2 operations undone: 9, 11"))
        #expect(log.contains("2 operations redone: 9, 11"))
        #expect(try workspace.output("push").contains("2 confirmed"))
        #expect(try workspace.output("query", "Customers?$filter=Name eq 'Neu'&$expand=Orders").contains("1 entity."))
        _ = server
    }

    @Test func `an undo or redo that is not possible is refused with a sentence`() throws {
        let (server, workspace) = try workspace()
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Ada"}"#)
        #expect(try workspace.tidelog("undo", "3").error.contains("Operation 3 is not pending"))
        #expect(try workspace.tidelog("redo", "9").error.contains("Operation 9 is not undone"))
        #expect(try workspace.tidelog("undo").status == 64)
        #expect(try workspace.tidelog("undo", "9", "--all").status == 64)
        #expect(try workspace.output("undo", "--all", "--json").contains(#""sequence":9,"#))
        #expect(try workspace.tidelog("undo", "9").error.contains("Operation 9 is already undone."))
        #expect(try workspace.output("status") == "No pending operations. 1 undone.\n")
        #expect(try workspace.output("undo", "--all") == "0 operations undone.\n")
        _ = server
    }

    @Test func `operations of one transaction are sent in one change set`() throws {
        let (server, workspace) = try workspace()
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"a"}"#, "--transaction", "T")
        _ = try workspace.output("update", "Customers(2)", #"{"Name":"b"}"#)
        _ = try workspace.output("update", "Customers(3)", #"{"Name":"c"}"#, "--transaction", "T")
        let plan = try workspace.output("plan")
        #expect(plan.ranges(of: "boundary=changeset").count == 2)
        #expect(try workspace.output("push").contains("3 confirmed"))
        _ = server
    }
}
