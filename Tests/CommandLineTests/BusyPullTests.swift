import TestSupport
import Testing

/// Tests of `pull` from a service that is busy.
@Suite(.timeLimit(.minutes(20))) struct BusyPullTests {
    /// Returns a service that is busy after the first pull, and a store that was pulled from it.
    private func workspace(retryAfter: Int) throws -> (SandboxServer, Workspace) {
        let server = try SandboxServer(
            faults: #"""
                [{"effect":"refuse","status":429,"headers":{"Retry-After":"\#(retryAfter)"},"method":"GET",
                  "url":"Customers","skip":1}]
                """#)
        return (server, try Workspace.pulled(server, .v4, queries: ["C=Customers"]))
    }

    @Test
    func `a pull that the service postpones exits with 75, and so does each later pull without --now`()
        throws
    {
        let (server, workspace) = try workspace(retryAfter: 3_600)
        let first = try workspace.tidelog("pull")
        #expect(first.status == 75)
        #expect(first.error.contains("429"))
        let second = try workspace.tidelog("pull")
        #expect(second.status == 75)
        #expect(
            second.error.contains("The download is postponed. The service responded to GET Customers with status 429."))
        #expect(try workspace.output("pull", "--now").hasPrefix("Read "))
        withExtendedLifetime(server) {}
    }

    @Test func `a pull waits at most for the time in its option`() throws {
        let (server, workspace) = try workspace(retryAfter: 2)
        #expect(try workspace.tidelog("pull", "--wait", "1").status == 75)
        #expect(try workspace.output("pull", "--wait", "60").hasPrefix("Read "))
        withExtendedLifetime(server) {}
    }

    @Test func `--wait rejects negative and invalid times`() throws {
        let workspace = try Workspace()
        #expect(try workspace.tidelog("pull", "--wait", "-1").status == 64)
        #expect(try workspace.tidelog("pull", "--wait", "soon").status == 64)
    }
}
