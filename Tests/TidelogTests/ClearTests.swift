import Foundation
import Testing
import Tidelog

/// Removal of a store.
struct ClearTests {
    private static let offline = Client(dialect: .v4, isOnline: false)

    private func names(_ path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    @Test func `a store with pending operations is cleared only by force, open or closed`() async throws {
        let shop = try await Shop(Self.offline)
        let store = try #require(shop.store)
        let path = store.parameters.storePath
        try await shop.service.createEntity(try shop.new("Customers", ["Name": .string("new")]))
        let refused = await #expect(throws: TidelogError.self) { try await store.clear() }
        #expect(refused?.code == .refused(.notAllowed))
        #expect(try await shop.fetch("Customers").count == 4)
        await store.close()
        await #expect(throws: TidelogError.self) { try await OfflineODataProvider.clear(storePath: path) }
        try await store.open()
        #expect(try await shop.fetch("Customers").count == 4)
        try await store.clear(force: true)
        #expect(!FileManager.default.fileExists(atPath: path))
        await #expect(throws: TidelogError.self) { _ = try await shop.fetch("Customers") }
    }

    @Test func `closing a store loses no pending operation`() async throws {
        let shop = try await Shop(Self.offline)
        let store = try #require(shop.store)
        try await shop.service.createEntity(try shop.new("Customers", ["Name": .string("new")]))
        await store.close()
        try await store.open()
        #expect(try await store.hasPendingUpload)
    }

    @Test func `clearing removes a store with its streams, and opening creates it again`() async throws {
        let shop = try await Shop(Self.offline)
        let store = try #require(shop.store)
        let path = store.parameters.storePath
        let photo = try shop.new("Photos")
        try await shop.service.createMedia(photo, content: MediaContent([1, 2, 3], mediaType: "image/png"))
        try await store.upload()
        #expect(names(path).contains("streams"))
        await store.close()
        try await OfflineODataProvider.clear(storePath: path)
        #expect(!FileManager.default.fileExists(atPath: path))
        try await store.open()
        #expect(try await store.getDefiningQueries().count == Shop.everything.count)
        #expect(try await shop.fetch("Customers").isEmpty)
    }

    @Test func `clearing leaves directories that are not stores, and files that the store did not create`() async throws
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("log"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("mine".utf8).write(to: folder.appendingPathComponent("log/mine"))
        for force in [false, true] {
            let error = await #expect(throws: TidelogError.self) {
                try await OfflineODataProvider.clear(storePath: folder.path, force: force)
            }
            #expect(error?.code == .noStore)
        }
        #expect(names(folder.path) == ["log"])
        #expect(names(folder.path + "/log") == ["mine"])

        let shop = try await Shop(Self.offline)
        let store = try #require(shop.store)
        let path = store.parameters.storePath
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path + "/notes.txt"))
        try await store.clear()
        #expect(names(path) == ["notes.txt"])
        await #expect(throws: TidelogError.self) { try await store.clear() }
    }

    @Test func `a store that another provider has open is not cleared, not even by force`() async throws {
        let shop = try await Shop(Self.offline)
        let store = try #require(shop.store)
        for force in [false, true] {
            let error = await #expect(throws: TidelogError.self) {
                try await OfflineODataProvider.clear(storePath: store.parameters.storePath, force: force)
            }
            #expect(error?.code == .locked)
        }
        #expect(try await shop.fetch("Customers").count == 3)
    }

    @Test func `a store whose files cannot be removed is closed, and can be opened again`() async throws {
        let shop = try await Shop(Self.offline)
        let store = try #require(shop.store)
        // A file of another owner at the path to which the log would be moved.
        let place = store.parameters.storePath + "/log.removed"
        try Data("mine".utf8).write(to: URL(fileURLWithPath: place))
        await #expect(throws: TidelogError.self) { try await store.clear() }
        try FileManager.default.removeItem(atPath: place)
        try await store.open()
        #expect(try await shop.fetch("Customers").count == 3)
    }

    @Test func `a damaged store is cleared only by force`() async throws {
        let shop = try await Shop(Self.offline)
        let store = try #require(shop.store)
        let path = store.parameters.storePath
        await store.close()
        for name in names(path + "/log") { try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path + "/log/" + name)) }
        try? FileManager.default.removeItem(atPath: path + "/views.sqlite")
        await #expect(throws: TidelogError.self) { try await store.clear() }
        #expect(names(path).contains("log"))
        try await store.clear(force: true)
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
