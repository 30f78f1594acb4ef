import TestSupport
import Testing

/// Entities that `pull` cannot store.
@Suite(.timeLimit(.minutes(20))) struct QuarantineTests {
    private func workspace(_ effect: String) throws -> (SandboxServer, Workspace) {
        let server = try SandboxServer(
            faults: #"[{"effect":"\#(effect)","method":"GET","url":"Customers","skip":1}]"#)
        return (server, try Workspace.pulled(server, .v4, queries: ["C=Customers"]))
    }

    @Test func `a pull lists the quarantined entities and exits with 1, and the next pull retries them`() throws {
        let (server, workspace) = try workspace("badValue")
        let pull = try workspace.tidelog("pull")
        #expect(pull.status == 1)
        #expect(pull.output.contains("Could not accept 1 entity; the stored version of it"))
        #expect(pull.output.contains("  Customers(1)/Name: "))
        #expect(try workspace.output("quarantine").hasPrefix("C: Customers(1)/Name: "))
        #expect(try workspace.output("quarantine", "--json").contains(#""reason":"unreadable""#))
        #expect(try workspace.tidelog("pull").status == 0)
        #expect(try workspace.output("quarantine") == "No entities are in quarantine.\n")
        withExtendedLifetime(server) {}
    }

    @Test func `an entity without a key prevents removals`() throws {
        let (server, workspace) = try workspace("keyless")
        let pull = try workspace.tidelog("pull")
        #expect(pull.status == 1)
        #expect(pull.output.contains("Customers, key unknown/CustomerID: The entity has no value for its key"))
        #expect(pull.output.contains("No entity was removed"))
        #expect(!pull.output.contains("Removed"))
        #expect(try workspace.output("query", "Customers/$count") == "3\n")
        withExtendedLifetime(server) {}
    }

    @Test func `an error inside a response is printed with the service's message`() throws {
        let (server, workspace) = try workspace("inStreamError")
        let pull = try workspace.tidelog("pull")
        #expect(pull.status == 1)
        #expect(pull.error.contains("Aborted: A fault of the sandbox interrupted this response."))
        #expect(pull.error.contains("no entity was removed"))
        #expect(try workspace.tidelog("pull").status == 0)
        withExtendedLifetime(server) {}
    }
}
