import EDM
import Foundation
import OfflineStore
import OperationLog
import Operations
import TestSupport
import Testing

@testable import LogInspection

/// Checks of the encrypted views of a store that is not open.
@Suite struct EncryptedViewsCheckTests {
    private static let key = LogKey(Array(0..<32))!
    private let directory = TemporaryDirectory()

    private var files: StoreFiles { StoreFiles(directory: directory.path) }

    private func open() async throws -> LocalStore {
        let options = LocalStoreOptions(log: OperationLog.Options(keys: [Self.key]))
        let store = try await LocalStore(files, options: options)
        try await store.record([.serviceInstalled(ServiceDescription(root: "http://shop.test/", metadata: metadata))])
        return store
    }

    private var metadata: [UInt8] {
        Array(
            """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="Item">
            <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="Items" EntityType="Shop.Item"/></EntityContainer>
            </Schema></edmx:DataServices></edmx:Edmx>
            """.utf8)
    }

    private func check(_ directory: String, _ keys: [LogKey] = [key]) throws -> StoredViews {
        try InspectedStore(directory: directory, keys: keys).checkStoredViews()
    }

    @Test func `views are in use while a store is open, and agree with the log after it is closed`() async throws {
        let store = try await open()
        #expect(try check(directory.path) == .inUse)
        await store.close()
        #expect(try check(directory.path) == .sound(through: 1))
    }

    @Test func `views that a process did not close are valid, and the check changes none of their files`()
        async throws
    {
        let store = try await open()
        let copy = TemporaryDirectory()
        try FileManager.default.removeItem(atPath: copy.path)
        try FileManager.default.copyItem(atPath: directory.path, toPath: copy.path)
        await store.close()
        let views = StoreFiles(directory: copy.path).views
        let before = [views, views + "-wal"].map { TemporaryDirectory.read($0) }
        guard case .stale(let why) = try check(copy.path) else {
            Issue.record("They are not reported as stale.")
            return
        }
        #expect(why.contains("did not close them"))
        #expect([views, views + "-wal"].map { TemporaryDirectory.read($0) } == before)
    }

    @Test func `a changed page is reported as wrong, and a new key as stale views`() async throws {
        await (try await open()).close()
        guard case .stale = try check(directory.path, [LogKey.random(), Self.key]) else {
            Issue.record("They are not reported as stale.")
            return
        }
        var bytes = try #require(TemporaryDirectory.read(files.views))
        bytes[5_000] ^= 1
        TemporaryDirectory.write(bytes, to: files.views)
        #expect(try check(directory.path).isWrong)
    }
}
