import Foundation
import TestSupport
import Testing

/// Credentials from the environment are sent only to origins that the user named. Commands that need no network do not
/// connect.
@Suite(.timeLimit(.minutes(30))) struct CredentialOriginTests {
    private static let page = HostileService.page(#"{"ID":1,"Name":"a"}"#)

    private func service() throws -> HostileService {
        try HostileService { $1.respond("200 OK", HostileService.json, Self.page) }
    }

    private func tokens(_ service: HostileService) -> Set<String?> {
        Set(service.server.requests.map { $0.header("authorization") })
    }

    /// Returns a store that another user created: this user has not named an origin.
    private func foreign(_ service: HostileService) throws -> Workspace {
        let workspace = try Workspace.made(service, "Things=Things")
        try FileManager.default.removeItem(atPath: workspace.path("config"))
        workspace.environment["TIDELOG_TOKEN"] = "MYTOKEN"
        return workspace
    }

    @Test func `after init, later commands send the token to the service`() throws {
        let service = try service()
        let workspace = try Workspace.made(service, "Things=Things")
        workspace.environment["TIDELOG_TOKEN"] = "MYTOKEN"
        let before = service.server.requests.count
        #expect(try workspace.tidelog("pull").status == 0)
        #expect(Set(service.server.requests.dropFirst(before).map { $0.header("authorization") }) == ["Bearer MYTOKEN"])
    }

    @Test(arguments: [
        ["pull"], ["push"], ["refresh-metadata"], ["retry", "1"], ["media", "get", "Things(1)", "--refresh"],
        ["diff", "now", "live"],
    ])
    func `a command sends no token for a copied store, and the error names the remedy`(_ command: [String]) throws {
        let service = try service()
        let workspace = try foreign(service)
        let before = service.server.connectionCount
        let run = try workspace.run(command)
        #expect([1, 70].contains(run.status))
        #expect(
            run.error.contains(
                "If the credentials are for this origin, name it once: --origin http://HOST, or TIDELOG_TOKEN_ORIGIN in the environment."
            ))
        #expect(service.server.connectionCount == before)
    }

    @Test func `basic credentials are bound to an origin like a token`() throws {
        let service = try service()
        let workspace = try foreign(service)
        workspace.environment["TIDELOG_TOKEN"] = nil
        (workspace.environment["TIDELOG_USER"], workspace.environment["TIDELOG_PASSWORD"]) = ("ada", "secret")
        let before = service.server.connectionCount
        #expect(try workspace.tidelog("pull").status == 1)
        #expect(service.server.connectionCount == before)
    }

    @Test func `an origin that was confirmed once is remembered for that store only`() throws {
        let service = try service()
        let workspace = try foreign(service)
        #expect(try workspace.tidelog("pull", "--origin", service.root).status == 0)
        #expect(try workspace.tidelog("pull").status == 0)
        // A different store of the same service.
        try FileManager.default.copyItem(atPath: workspace.path(".tidelog"), toPath: workspace.path("copy"))
        #expect(try workspace.tidelog("pull", "--store", "copy").status == 1)
    }

    @Test func `a command sends no token if the service of the store was replaced`() throws {
        let (service, attacker) = (try service(), try service())
        let workspace = try foreign(service)
        #expect(try workspace.tidelog("pull", "--origin", service.origin).status == 0)
        let description = workspace.read(".tidelog/store.json").replacing(service.origin, with: attacker.origin)
        try workspace.write(description, to: ".tidelog/store.json")
        for command in ["pull", "push", "status"] { #expect(try workspace.tidelog(command).status != 0) }
        #expect(attacker.server.connectionCount == 0)
    }

    @Test func `only the origins in the environment variable receive the token`() throws {
        let (service, other) = (try service(), try service())
        let workspace = try foreign(service)
        workspace.environment["TIDELOG_TOKEN_ORIGIN"] = other.origin
        let refused = try workspace.tidelog("pull")
        #expect(refused.status == 1)
        #expect(refused.error.contains("TIDELOG_TOKEN_ORIGIN does not contain http://HOST"))
        #expect(try workspace.tidelog("init", service.root, "--store", "new").status == 1)
        workspace.environment["TIDELOG_TOKEN_ORIGIN"] = "\(other.origin),\(service.root)"
        #expect(try workspace.tidelog("pull").status == 0)
    }

    @Test func `a pull without credentials needs no confirmed origin`() throws {
        let service = try service()
        let workspace = try foreign(service)
        workspace.environment["TIDELOG_TOKEN"] = nil
        #expect(try workspace.tidelog("pull").status == 0)
        #expect(tokens(service) == [nil])
    }

    @Test func `an origin that differs from the store's service is an error`() throws {
        let service = try service()
        let workspace = try foreign(service)
        let refused = try workspace.tidelog("pull", "--origin", "https://example.org")
        #expect(refused.status == 1)
        #expect(refused.error.contains("--origin is https://example.org"))
    }

    // MARK: Commands without a network

    static let offline: [[String]] = [
        ["status"], ["status", "--undone"], ["query", "Things"], ["explain", "Things"], ["keys"], ["plan"], ["log"],
        ["log", "--all", "--graph"], ["show", "1"], ["history", "Things(1)"], ["blame", "Things(1)"],
        ["why", "Things(1)"],
        ["stats"], ["segments"], ["verify"], ["queries"], ["queries", "add", "More", "Things?$top=1"],
        ["queries", "remove", "Things"], ["quarantine"], ["service"], ["service", "supportsBatch=false"],
        ["create", "Things", #"{"ID":7}"#], ["update", "Things(1)", #"{"Name":"b"}"#], ["delete", "Things(1)"],
        ["link", "Things(1)", "Other", "Things(1)"], ["unlink", "Things(1)", "Other"], ["undo", "--all"],
        ["redo", "--last"],
        ["release", "1"], ["conflicts"], ["resolve", "Things(1)", "--mine"], ["settle", "1", "--took-effect"],
        ["identify", "Things(1)", "2"], ["errors"], ["discard", "--all"], ["amend", "1"], ["media", "verify"],
        ["compact"],
        ["at", "1", "--", "query", "Things"], ["diff", "1", "now"], ["replay"], ["replay", "--check"],
        ["export", "--format", "jsonl"], ["report", "out.html"], ["repair"], ["what-if", "--without", "1"],
        ["media", "get", "Things(1)"], ["clear"],
    ]

    private func checkOffline(_ workspace: Workspace, _ service: HostileService, _ command: [String]) throws {
        let before = service.server.connectionCount
        workspace.environment["TIDELOG_TOKEN"] = "MYTOKEN"
        let running = try workspace.start(command)
        running.process.waitUntilExit()
        #expect(service.server.connectionCount == before, "\(command) opened a connection")
        #expect(running.process.terminationReason == .exit, "\(command) crashed")
    }

    @Test(arguments: offline)
    func `a local command opens no connection`(_ command: [String]) throws {
        let service = try service()
        let workspace = try foreign(service)
        workspace.environment["TIDELOG_TOKEN"] = nil
        _ = try workspace.output("pull")
        try checkOffline(workspace, service, command)
    }

    @Test(arguments: offline)
    func `a local command opens no connection even if only the description of the store is left`(_ command: [String])
        throws
    {
        let service = try service()
        let workspace = try foreign(service)
        // Only the header of each segment is left.
        for file in try FileManager.default.contentsOfDirectory(atPath: workspace.path(".tidelog/log")) {
            let path = workspace.path(".tidelog/log/\(file)")
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            try bytes.prefix(64).write(to: URL(fileURLWithPath: path))
        }
        for file in ["views.sqlite", "views.sqlite-wal", "views.sqlite-shm"] {
            try? FileManager.default.removeItem(atPath: workspace.path(".tidelog/\(file)"))
        }
        try checkOffline(workspace, service, command)
    }
}

/// Tests of `init` without `--query`.
@Suite(.timeLimit(.minutes(20))) struct DefaultQueryTests {
    @Test func `init adds a query for every entity set and singleton and lists the omitted ones`() throws {
        let service = try HostileService {
            $0.target.hasPrefix("/Me")
                ? $1.respond("200 OK", HostileService.json, Array(#"{"ID":5,"Name":"me"}"#.utf8))
                : $1.respond("200 OK", HostileService.json, HostileService.page(#"{"ID":1}"#))
        }
        let workspace = try Workspace()
        workspace.origin = service.origin
        #expect(
            try workspace.output("init", service.root) == """
                Store .tidelog of http://HOST/ (OData 4.0).
                One defining query for each of the 1 entity sets and 1 singleton, because no query was given:
                  Things = Things?$expand=Other
                  Me = Me?$expand=Other
                Omitted:
                  Things/Far: the metadata names no entity set for its target
                  Me/Far: the metadata names no entity set for its target
                Run 'tidelog pull' to download them.

                """)
        _ = try workspace.output("pull")
        #expect(try workspace.output("query", "Me/Name/$value") == "me\n")
    }
}
