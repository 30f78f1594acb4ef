import Foundation
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// The metrics have the names and values that the documentation states.
struct MetricsTests {
    private func shop() async throws -> (Shop, OfflineODataProvider) {
        let shop = try await Shop(Client(dialect: .v4, isOnline: false))
        return (shop, try #require(shop.store))
    }

    private func create(_ shop: Shop, _ set: String, _ values: [String: Value]) async throws {
        try await shop.service.createEntity(try shop.new(set, values))
    }

    @Test func `an upload counts its batch, its bytes, and the start and end of each operation`() async throws {
        let counts = try await CountedMetrics.counting {
            let (shop, store) = try await shop()
            try await create(shop, "Customers", ["Name": .string("New")])
            try await create(shop, "Orders", ["CustomerID": .integer(99)])
            let report = try await store.upload()
            #expect((report.confirmed.count, report.rejected.count) == (1, 1))
        }
        #expect(counts["tidelog_operations state=made"] == 2)
        #expect(counts["tidelog_operations state=confirmed"] == 1)
        #expect(counts["tidelog_operations state=rejected"] == 1)
        #expect(counts["tidelog_batches"] ?? 0 > 0)
        #expect(counts["tidelog_bytes_sent"] ?? 0 > 0)
        #expect(counts["tidelog_interruptions"] == nil)
        // One download and one upload.
        #expect(counts["tidelog_runs end=done"] == 2)
    }

    @Test func `a download counts its entities, and its requests by status`() async throws {
        var entities = 0
        let counts = try await CountedMetrics.counting {
            let (shop, store) = try await shop()
            shop.transport.forgetRequests()
            entities = try await store.download().entities
        }
        // Opening the store and the first download count as well.
        #expect(counts["tidelog_entities_read"] == Int64(2 * entities))
        #expect(counts["tidelog_requests status=200"] ?? 0 >= Int64(2 * Shop.sets.count))
        #expect(counts["tidelog_bytes_received"] ?? 0 > 0)
        #expect(counts["tidelog_runs end=done"] == 2)
    }

    @Test func `interruptions, waits, undone operations and elided operations are counted`()
        async throws
    {
        let counts = try await CountedMetrics.counting {
            let (shop, store) = try await shop()
            try await create(shop, "Customers", ["Name": .string("New")])
            shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
            await #expect(throws: TidelogError.self) { try await store.upload() }
            let doubtful = try #require(try await store.operationStatus().first)
            try await store.settle(operation: doubtful.sequence, as: .resend)
            shop.transport.add(Fault(.refuse(status: 503, headers: ["Retry-After": "0"]), urlPart: "$batch"))
            try await store.upload()
            let short = try shop.new("Customers", ["Name": .string("short-lived")])
            try await shop.service.createEntity(short)
            try await shop.service.deleteEntity(short)
            try await store.upload(UploadOptions(coalesces: true))
            try await create(shop, "Customers", ["Name": .string("undone")])
            try await store.undoAllPendingChanges()
            try await store.redoLastUndo()
        }
        #expect(counts["tidelog_interruptions"] == 1)
        #expect(counts["tidelog_requests status=none"] == 1)
        #expect(counts["tidelog_runs end=failed"] == 1)
        #expect(counts["tidelog_waits"] == 1)
        #expect(counts["tidelog_requests status=503"] == 1)
        #expect(counts["tidelog_operations state=elided"] == 2)
        #expect(counts["tidelog_operations state=undone"] == 1)
        #expect(counts["tidelog_operations state=redone"] == 1)
        let labels = Set(counts.keys.map { String($0.prefix { $0 != " " }) })
        #expect(labels == Set(try documented()))
    }

    /// Returns the labels in the table of the documentation.
    private func documented() throws -> [String] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("Docs/UploadProtocol.md"), encoding: .utf8)
        return text.split(separator: "`").filter { $0.hasPrefix("tidelog_") }.map(String.init)
    }
}
