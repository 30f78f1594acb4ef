import Foundation
import Gateway
import GatewayCore
import ODataWire
import OfflineStore
import SyncEngine
import TestSupport
import Testing

/// Real devices and a service without delta links, with a gateway in between.
@Suite(.serialized) struct FeedDeviceTests {
    private static let feeds = ["Orders", "Suppliers", "Visits"].compactMap { set in
        CanonicalQuery(set).map { query in
            var feed = FeedSettings(name: set, query: query)
            feed.refreshMilliseconds = 0
            return feed
        }
    }

    @Test(arguments: ["v4", "v2"], [0, 2])
    func `two devices that upload and download have the rows of the service`(
        _ version: String, _ pageSize: Int
    ) async throws {
        let sandbox = try SandboxServer(["--page-size", "\(pageSize)"], isReused: false)
        let gateway = try await GatewayUnderTest(
            [version: "\(sandbox.origin)/\(version)/"], timeout: 5_000, feedStorage: MemoryFeedStorage(),
            feeds: Self.feeds)
        let service =
            version == "v2"
            ? ServiceOptions(repeatability: .sap, tellsDeletionsInV2: true) : ServiceOptions(tellsDeletionsInV2: false)
        let first = try await Device(root: gateway.root, version, version == "v2" ? service : nil)
        let second = try await Device(root: gateway.root, version, version == "v2" ? service : nil)
        for mark in 0..<4 {
            let device = mark.isMultiple(of: 2) ? first : second
            try await device.change(mark)
            #expect(try await device.drain().isEmpty)
            for device in [first, second] { _ = try await device.engine.download() }
            for (set, property) in [("Orders", "Note"), ("Suppliers", "Name"), ("Visits", "Subject")] {
                let expected = try await sandbox.values(set, property)
                #expect(try await first.local(set, property) == expected, "first \(set) after \(mark)")
                #expect(try await second.local(set, property) == expected, "second \(set) after \(mark)")
            }
        }
        let metrics = await gateway.service.metricsText()
        #expect(metrics.contains("form=\"delta\"") || metrics.contains("form=\"empty\""), "\(metrics)")
        await gateway.stop()
    }
}
