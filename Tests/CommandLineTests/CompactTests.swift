import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

@Suite(.serialized, .timeLimit(.minutes(20))) struct CompactTests {
    /// Returns a store with confirmed, rejected and pending operations.
    private func filled(_ server: SandboxServer) throws -> Workspace {
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        _ = try workspace.output("create", "Customers", #"{"Name":"Neu"}"#)
        _ = try workspace.output("push")
        _ = try workspace.output("update", "Customers(~8)", #"{"Name":"Later"}"#)
        return workspace
    }

    /// Returns the parts of the state that commands print.
    private func state(_ workspace: Workspace) throws -> [String] {
        try [
            workspace.output("query", "Customers?$expand=Orders", "--json"),
            workspace.output("query", "Orders", "--json"), workspace.output("status", "--json"),
            workspace.output("keys"), workspace.output("plan"),
        ]
    }

    private func removeViews(_ workspace: Workspace) {
        for name in ["views.sqlite", "views.sqlite-wal", "views.sqlite-shm"] {
            try? FileManager.default.removeItem(atPath: workspace.path(".tidelog/\(name)"))
        }
    }

    @Test func `a compaction prints the removed files and does not change the state`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        let before = try state(workspace)
        let lines = try workspace.tidelog("compact", "--keep", "0b").lines.map {
            $0.replacing(/\d+ bytes/, with: "N bytes").replacing(/[0-9a-f]{16}/, with: "DIGEST")
                .replacing(/has \d+/, with: "has N")
        }
        #expect(
            lines == [
                "The snapshot of the state before operation 13 has N bytes, digest DIGEST.",
                "Removed 1 segment and 0 older snapshots; the log had N bytes and now has N.",
                "The log begins with operation 13.",
            ])
        #expect(try state(workspace) == before)
        removeViews(workspace)
        #expect(try state(workspace) == before)
        #expect(try workspace.output("verify").hasSuffix("The log has no damage.\n"))
    }

    @Test func `compact --json prints the snapshot, the first record and the sizes`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        let json = try workspace.output("compact", "--keep", "everything", "--json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(
            Set(object.keys) == [
                "snapshot", "firstSequence", "removedSegments", "removedSnapshots", "bytesBefore", "bytesAfter",
            ])
        #expect(object["firstSequence"] as? Int == 1)
        #expect((object["snapshot"] as? [String: Any])?["sequence"] as? Int == 13)
    }

    @Test(arguments: ["", "all", "30", "-1d", "d", "10 mb", "99999999999999999999b", "18446744073709551615kb"])
    func `an invalid window is a usage error`(_ window: String) throws {
        #expect(try Workspace().tidelog("compact", "--keep=\(window)").status == 64)
    }

    @Test func `a killed compaction does not change the state, with and without views`() throws {
        let server = try SandboxServer()
        let workspace = try filled(server)
        let start = ContinuousClock.now
        _ = try workspace.output("compact", "--keep", "0b")
        // The kills are spread over the time of a compaction.
        let step = start.duration(to: .now) / .seconds(20)
        var finished = 0
        for round in 0..<24 {
            _ = try workspace.output("update", "Customers(~8)", #"{"Name":"\#(round)"}"#)
            let before = try state(workspace)
            let running = try workspace.start(["compact", "--keep", "0b"])
            Thread.sleep(forTimeInterval: step * Double(round))
            kill(running.process.processIdentifier, SIGKILL)
            running.process.waitUntilExit()
            if running.process.terminationReason == .exit { finished += 1 }
            if !round.isMultiple(of: 3) { removeViews(workspace) }
            #expect(try state(workspace) == before, "round \(round)")
            #expect(try workspace.output("verify").hasSuffix("The log has no damage.\n"), "round \(round)")
        }
        #expect(finished < 23, "Only the compaction that is killed at once did not finish.")
        print("Compactions killed: \(24 - finished) of 24")
        _ = try workspace.output("push")
        #expect(try workspace.output("status") == "No pending operations.\n")
    }
}
