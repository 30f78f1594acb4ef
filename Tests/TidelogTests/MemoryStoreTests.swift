import Foundation
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// OB-35: a store in memory. BA-25: snapshots. UQ-06: flags of queue and download. UQ-22: expiry. OP-08: the version.
@Suite struct MemoryStoreTests {
    private static func inMemory(_ parameters: inout OfflineODataParameters) {
        parameters.storePath = OfflineODataParameters.inMemory
    }

    @Test(arguments: Client.offline)
    func `a store in memory downloads, changes and uploads, and leaves no file`(_ client: Client) async throws {
        let shop = try await Shop(client, adjusting: Self.inMemory)
        let store = try #require(shop.store)
        let order = try await shop.one("Orders", 1)
        order["Note"] = .string("changed")
        try await shop.service.updateEntity(order)
        #expect(try await store.hasPendingUpload)
        let report = try await store.upload()
        #expect(report.rejected.isEmpty)
        try await store.download()
        #expect(try await shop.one("Orders", 1)["Note"] == .string("changed"))
        #expect(
            try await shop.server.executeQuery(DataQuery().withURL("Orders(1)")).requiredEntity()["Note"]
                == .string("changed"))
        #expect(!FileManager.default.fileExists(atPath: OfflineODataParameters.inMemory))
        #expect(!FileManager.default.fileExists(atPath: OfflineODataParameters.inMemory + "/log"))
    }

    @Test(arguments: Client.offline)
    func `a store in memory that was closed can be opened again, with its pending operations`(
        _ client: Client
    ) async throws {
        let shop = try await Shop(client, adjusting: Self.inMemory)
        let store = try #require(shop.store)
        try await shop.service.deleteEntity(try await shop.one("Orders", 4))
        let digest = try await store.stateDigest()
        await store.close()
        try await store.open()
        #expect(try await store.stateDigest() == digest)
        #expect(try await store.operationStatus().count == 1)
    }

    @Test(arguments: Client.offline)
    func `clearing a store in memory needs force while operations are pending`(_ client: Client) async throws {
        let shop = try await Shop(client, adjusting: Self.inMemory)
        let store = try #require(shop.store)
        try await shop.service.deleteEntity(try await shop.one("Orders", 4))
        let error = await #expect(throws: TidelogError.self) { try await store.clear() }
        #expect(error?.code == .refused(.notAllowed))
        try await store.clear(force: true)
        let again = await #expect(throws: TidelogError.self) { try await store.clear() }
        #expect(again?.code == .noStore)
        try await store.open()
        #expect(try await store.operationStatus().isEmpty)
    }

    @Test(arguments: Client.offline)
    func `a store in memory compacts its log and has a history`(_ client: Client) async throws {
        let shop = try await Shop(client, adjusting: Self.inMemory)
        let store = try #require(shop.store)
        let before = try await store.snapshot()
        try await shop.service.deleteEntity(try await shop.one("Orders", 4))
        let past = DataService(provider: before)
        #expect(try await past.executeQuery(DataQuery().withURL("Orders")).entityList().count == 4)
        let digest = try await store.stateDigest()
        try await store.compact(keeping: .everything)
        #expect(try await store.stateDigest() == digest)
    }

    @Test(arguments: Client.offline)
    func `a snapshot is not affected by later changes`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        let reads = DataService(provider: try await store.snapshot())
        try await shop.service.deleteEntity(try await shop.one("Orders", 4))
        try await store.upload()
        try await store.download()
        #expect(try await reads.executeQuery(DataQuery().withURL("Orders")).entityList().count == 4)
        #expect(try await reads.executeQuery(DataQuery().withURL("Orders(4)")).entityList().count == 1)
        #expect(try await shop.fetch("Orders").count == 3)
    }

    @Test(arguments: Client.offline)
    func `a download is pending until each query was downloaded`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        #expect(try await store.hasPendingDownload == false)
        try await store.add(definingQuery: OfflineODataDefiningQuery(name: "Few", query: "/Orders?$top=1"))
        #expect(try await store.hasPendingDownload)
        try await store.download(withSubset: ["Few"])
        #expect(try await store.hasPendingDownload == false)
    }

    @Test(arguments: Client.offline)
    func `the queue is empty without unfinished operations`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        #expect(try await store.requestQueueIsEmpty)
        let order = try await shop.one("Orders", 1)
        order["Note"] = .string("draft")
        try await shop.service.updateEntity(order, options: RequestOptions(delivery: .draft))
        #expect(try await store.requestQueueIsEmpty == false)
        #expect(try await store.hasPendingUpload == false)
    }

    @Test(arguments: Client.offline)
    func `old pending changes can be undone, with the later ones that depend on them`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let store = try #require(shop.store)
        let order = try shop.new("Orders", ["Note": .string("old")])
        try await shop.service.createEntity(order)
        let first = try #require(try await store.operationStatus().first)
        #expect(try await store.undoPendingChanges(before: first.time).undone.isEmpty)
        let report = try await store.undoPendingChanges(before: first.time + 1)
        #expect(report.undone.count == 1)
        #expect(try await store.requestQueueIsEmpty)
        #expect(try await store.redoLastUndo() == [first.sequence])
    }

    @Test func `the library states its version`() {
        #expect(OfflineODataProvider.libraryVersion.split(separator: ".").count == 3)
    }
}
