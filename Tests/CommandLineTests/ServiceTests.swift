import TestSupport
import Testing

/// Tests of `tidelog service`, and of `--service` for the commands that plan.
@Suite(.timeLimit(.minutes(20))) struct ServiceTests {
    @Test(arguments: SandboxServer.Version.allCases)
    func `a store keeps the service capabilities, and push obeys them`(_ version: SandboxServer.Version) throws {
        let server = try SandboxServer(["--without", "batch"])
        let workspace = try Workspace.pulled(server, version, queries: ["C=Customers", "O=Orders"])
        #expect(try workspace.output("service").hasPrefix("supportsBatch = true\n"))
        _ = try workspace.output("service", "supportsBatch=false", "deepInsertToMany=inOrder")
        let kept = try workspace.output("service").split(separator: "\n")
        #expect(kept.contains("supportsBatch = false"))
        #expect(kept.contains("deepInsertToMany = inOrder"))
        _ = try workspace.output("create", "Customers", #"{"Name":"Neu"}"#)
        let plan = try workspace.output("plan")
        #expect(plan.hasPrefix("POST http://HOST/\(version.rawValue)/Customers\r\n"))
        #expect(plan.hasSuffix("{\"Name\":\"Neu\"}\n"))
        #expect(try workspace.output("push").hasPrefix("1 confirmed"))
        _ = try workspace.output("service", "--reset")
        #expect(try workspace.output("service").hasPrefix("supportsBatch = true\n"))
    }

    @Test func `--service sets options for one command, and operations that are not sent have a reason`() throws {
        let server = try SandboxServer(["--without", "batch"])
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        _ = try workspace.output("create", "Customers", #"{"Name":"Neu","Orders":[{"Note":"a"},{"Note":"b"}]}"#)
        let plan = try workspace.tidelog("plan", "--service", "supportsBatch=false")
        #expect(plan.status == 0)
        #expect(plan.output.isEmpty)
        #expect(plan.error.contains("is not sent: held back: it needs 3 requests that must take effect together"))
        let push = try workspace.output(
            "push", "--service", "supportsBatch=false", "--service", "deepInsertToMany=inOrder")
        #expect(push.hasPrefix("1 confirmed"))
        #expect(try workspace.output("service").hasPrefix("supportsBatch = true\n"))
    }

    @Test(arguments: ["supportsBatch", "supportsBatch=no", "nothing=true"])
    func `an invalid service option is a usage error`(_ argument: String) throws {
        let workspace = try Workspace()
        #expect(try workspace.tidelog("service", argument).status == 64)
        #expect(try workspace.tidelog("push", "--service", argument).status == 64)
    }
}
