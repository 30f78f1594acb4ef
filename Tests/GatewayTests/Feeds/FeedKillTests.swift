import Foundation
import OfflineStore
import SeededRandom
import SyncEngine
import TestSupport
import Testing

/// The gateway as a process with its feeds in SQLite, ended by `kill -9` while a device downloads.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FeedKillTests {
    /// A feed for each set of a device.
    private static let feeds = ["Orders", "Suppliers", "Visits"].map { set in
        "[defining_query]\nname = \(set)\nquery = \(set)\nis_shared_data = Y\nrefresh_interval = 0\n"
    }.joined()

    @Test func `a device follows its delta links, although the gateway is killed at random moments`() async throws {
        let seed = UInt64.testSeed()
        var generator = seed
        let sandbox = try SandboxServer(["--page-size", "2"], isReused: false)
        let node = try GatewayProcess(
            ["v4": "\(sandbox.origin)/v4/"], settings: "origin_timeout = 1\norigin_margin = 0\n\(Self.feeds)")
        try node.start()
        let device = try await Device(root: "http://127.0.0.1:\(node.port)/odata/", "v4")
        let other = try await Device(root: "\(sandbox.origin)/", "v4")
        for mark in 0..<8 {
            // This change bypasses the gateway.
            try await other.change(mark)
            #expect(try await other.drain().isEmpty)
            _ = try await other.engine.download()
            let download = Task { [engine = device.engine] in try? await engine.download() }
            generator = generator &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            try await Task.sleep(for: .milliseconds(Int(generator >> 33) % 60))
            node.kill()
            _ = await download.value
            try node.start()
            // Two readings of a feed begin at least a second apart.
            try await Task.sleep(for: .milliseconds(1_100))
            _ = try await device.engine.download()
            for (set, property) in [("Orders", "Note"), ("Suppliers", "Name"), ("Visits", "Subject")] {
                let expected = try await sandbox.values(set, property)
                #expect(try await device.local(set, property) == expected, "seed \(seed), \(set) after \(mark)")
            }
        }
        node.kill()
    }
}
