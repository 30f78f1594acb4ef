import Foundation
import OfflineStore
import TestSupport
import Testing

/// Commands on a store whose views differ from the log, or in which other files replace those of the store.
@Suite(.timeLimit(.minutes(20))) struct StoredViewsTests {
    private static let files = ["", "-wal", "-shm"].map { ".tidelog/views.sqlite" + $0 }

    /// Returns a store with a pending create whose name is different in the views.
    private func forged(_ server: SandboxServer) throws -> Workspace {
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        _ = try workspace.output("create", "Customers", #"{"Name":"honest"}"#)
        let path = workspace.path(".tidelog/views.sqlite")
        var bytes = try #require(TemporaryDirectory.read(path))
        while let range = bytes.firstRange(of: Array("honest".utf8)) {
            bytes.replaceSubrange(range, with: Array("FORGED".utf8))
        }
        TemporaryDirectory.write(bytes, to: path)
        return workspace
    }

    @Test func `verify and replay --check detect forged views, and push does not send their content`() throws {
        let server = try SandboxServer()
        let workspace = try forged(server)
        let verified = try workspace.tidelog("verify")
        #expect(verified.status == 2)
        #expect(verified.output.contains("The views differ from the log"))
        #expect(verified.output.hasSuffix("The log has no damage.\n"))
        let replayed = try workspace.tidelog("replay", "--check")
        #expect(replayed.status == 2)
        #expect(replayed.output.contains("The views differ from the log"))
        #expect(try workspace.tidelog("verify", "--fast").status == 0)
        let plan = try workspace.tidelog("plan")
        #expect(plan.output.contains("honest") && !plan.output.contains("FORGED"))
        #expect(plan.error.contains("The views were rebuilt from the log"))
        // Opening the store has rebuilt the views.
        let again = try workspace.tidelog("verify")
        #expect(again.status == 0)
        #expect(again.output.contains("The views match the log up to operation 6."))
        #expect(
            try workspace.output("replay", "--check").contains("The views match the log up to operation 6."))
        #expect(try workspace.output("push").contains("1 confirmed"))
    }

    @Test func `verify --rebuild rebuilds forged views`() throws {
        let server = try SandboxServer()
        let workspace = try forged(server)
        let run = try workspace.tidelog("verify", "--rebuild")
        #expect(run.status == 0, "\(run.error)")
        #expect(run.output.contains("The views match the log up to operation 6."))
        #expect(try workspace.output("verify", "--json").contains(#""views":"sound""#))
    }

    @Test func `verify leaves no files next to the views`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        let before = TemporaryDirectory.files(workspace.path(".tidelog")).sorted()
        _ = try workspace.output("verify")
        #expect(TemporaryDirectory.files(workspace.path(".tidelog")).sorted() == before)
    }

    @Test(arguments: ["status", "verify", "log"])
    func `a FIFO in place of a segment is an immediate error`(command: String) throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        let path = workspace.path(".tidelog/log/00000000000000000001.segment")
        try FileManager.default.removeItem(atPath: path)
        #expect(mkfifo(path, 0o600) == 0)
        let run = try workspace.tidelog(command)
        #expect(run.status != 0)
        #expect(run.error.contains("it is a FIFO, not a regular file"), "\(run.error)")
    }

    @Test func `the error for a directory in place of the views names it`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        for name in Self.files { try? FileManager.default.removeItem(atPath: workspace.path(name)) }
        try FileManager.default.createDirectory(
            atPath: workspace.path(".tidelog/views.sqlite"), withIntermediateDirectories: false)
        let run = try workspace.tidelog("status")
        #expect(run.status == 1)
        #expect(run.error.contains("It is a directory, not a regular file"), "\(run.error)")
        #expect(run.error.contains("views.sqlite"))
    }

    @Test(arguments: ["bisect", "minimise"])
    func `commands that tidelog runs receive no secrets`(command: String) throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        _ = try workspace.output("create", "Customers", #"{"Name":"a"}"#)
        workspace.environment["TIDELOG_TOKEN"] = "token-7c1f"
        workspace.environment["TIDELOG_PASSWORD"] = "password-7c1f"
        workspace.environment["TIDELOG_KEY"] = String(repeating: "ab", count: 32)
        workspace.environment["TIDELOG_OTHER"] = "other"
        let seen = workspace.path("seen")
        let check = "env >>\(seen); test -d \"$TIDELOG_STORE\" && exit 1"
        if command == "bisect" {
            _ = try workspace.tidelog(command, "--run", check)
        } else {
            _ = try workspace.tidelog(command, "--run", check, "--output", "small")
        }
        let environment = workspace.read("seen")
        #expect(environment.contains("TIDELOG_OTHER=other") && environment.contains("TIDELOG_STORE="))
        for secret in ["TIDELOG_TOKEN", "TIDELOG_PASSWORD", "TIDELOG_KEY", "7c1f", "abab"] {
            #expect(!environment.contains(secret), "\(secret)")
        }
    }

    @Test func `files that a command writes are readable only for their owner`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        _ = try workspace.output("report", "--output", "report.html")
        let attributes = try FileManager.default.attributesOfItem(atPath: workspace.path("report.html"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        for path in TemporaryDirectory.files(workspace.path(".tidelog")) {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(path)")
        }
    }
}
