import EDM
import Foundation
import HTTPTypes
import Operations
import SyncCore
import Synchronization
import TestSupport
import Testing
import Transport
import Views

@testable import OfflineStore
@testable import SyncEngine

/// Pages of a download that are in the log, but not committed in the views yet.
struct UncommittedPagesTests {
    /// A download of 36 customers in pages of ten, with a closure that is called before the last page is requested.
    private struct Download {
        let shop: Shop
        let engine: SyncEngine

        init(before: @escaping @Sendable (LocalStore) async throws -> Void) async throws {
            // Without reading ahead, the pages before the request are in the store when the closure is called.
            var options = LocalStoreOptions()
            options.readsAhead = false
            let shop = try await Shop(.v4, pageSize: 10, expanding: false, options: options, queries: [])
            for number in 0..<33 {
                shop.transport.direct("POST", "/v4/Customers", #"{"Name":"Customer \#(number)","Tags":[]}"#)
            }
            try await shop.store.definingQueries.add(DefiningQuery(name: "Customers", query: "Customers"))
            self.shop = shop
            let transport = InterruptedTransport(shop.transport, beforeRequest: 4) { try await before(shop.store) }
            engine = SyncEngine(
                store: shop.store, session: ServiceSession(root: "http://shop.test/v4/", transport: transport))
        }
    }

    /// Calls a closure before the request with the given number is sent.
    private struct InterruptedTransport: HTTPTransport {
        let service: any HTTPTransport
        let number: Int
        let count = Counter()
        let body: @Sendable () async throws -> Void

        final class Counter: Sendable {
            private let value = Mutex(0)
            func next() -> Int {
                value.withLock {
                    $0 += 1
                    return $0
                }
            }
        }

        init(
            _ service: any HTTPTransport, beforeRequest number: Int, _ body: @escaping @Sendable () async throws -> Void
        ) {
            self.service = service
            self.number = number
            self.body = body
        }

        func send(
            _ request: HTTPRequest, body sent: [UInt8]
        ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
            if count.next() == number {
                do { try await body() } catch { throw TransportError(.unreachable, "\(error)", mayHaveBeenSent: false) }
            }
            return try await service.send(request, body: sent)
        }
    }

    /// Returns the number of customers that the views would contain if the process ended now.
    private static func committed(_ store: LocalStore) throws -> Int {
        let copy = TemporaryDirectory()
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: store.files.views + suffix) {
            try FileManager.default.copyItem(
                atPath: store.files.views + suffix, toPath: copy.path + "/views.sqlite" + suffix)
        }
        let views = try Connection(path: copy.path + "/views.sqlite")
        defer { views.close() }
        return Int(try views.first("SELECT count(*) FROM set_Customers")?[0].integer ?? -1)
    }

    @Test func `pages are in the log and visible at once, and survive the end of the process`() async throws {
        let copy = TemporaryDirectory()
        let seen = Mutex<[Int]>([])
        let download = try await Download { store in
            let here = try await store.query("Customers").entities.count
            let there = try Self.committed(store)
            seen.withLock { $0 = [here, there] }
            // The files of a process that ends now.
            for name in ["log", "views.sqlite", "views.sqlite-wal", "store.json"] {
                let path = store.files.directory + "/" + name
                guard FileManager.default.fileExists(atPath: path) else { continue }
                try FileManager.default.copyItem(atPath: path, toPath: copy.path + "/" + name)
            }
        }
        _ = try await download.engine.download()
        #expect(seen.withLock { $0 } == [30, 0])
        #expect(try Self.committed(download.shop.store) == 36)
        let ended = try await LocalStore(StoreFiles(directory: copy.path))
        #expect(ended.recovery == [])
        #expect(ended.opened.foldedRecords == 3)
        #expect(try await ended.query("Customers").entities.count == 30)
    }

    @Test func `a change of the app during a download keeps the uncommitted pages, and so does a refused one`()
        async throws
    {
        let committed = Mutex<[Int]>([])
        let download = try await Download { store in
            await #expect(throws: TidelogError.self) {
                try await store.perform([(.delete(.link("Customers(99)")), IntentOptions())], asChangeSet: false)
            }
            let refused = try Self.committed(store)
            _ = try await store.perform(
                [(update("Customers(5)", ["Name": .string("Mine")]), IntentOptions())], asChangeSet: false)
            let changed = try Self.committed(store)
            committed.withLock { $0 = [refused, changed] }
        }
        _ = try await download.engine.download()
        #expect(committed.withLock { $0 } == [30, 30])
        #expect(try await download.shop.value("Customers(5)", "Name") == .string("Mine"))
        #expect(try await download.shop.store.query("Customers").entities.count == 36)
        try await Self.expectLogIsState(download.shop)
    }

    @Test func `an interrupted download commits the received pages in the views`() async throws {
        struct Unreachable: Error {}
        let download = try await Download { _ in throw Unreachable() }
        await #expect(throws: TidelogError.self) { try await download.engine.download() }
        #expect(try Self.committed(download.shop.store) == 30)
    }

    @Test func `views that fail to apply a page receive it and the previous ones again from the log`() async throws {
        // The log contains the page when the views fail, so the download continues. The rollback removes the trigger.
        let download = try await Download { store in
            try await store.execute(
                "CREATE TEMP TRIGGER refuse AFTER INSERT ON keys BEGIN SELECT RAISE(ABORT, 'no'); END")
        }
        let report = try await download.engine.download()
        #expect(report.queries.map(\.mode) == [.full])
        #expect(try await download.shop.store.query("Customers").entities.count == 36)
        try await Self.expectLogIsState(download.shop)
    }

    @Test func `views that fail to commit pages receive them again from the log`() async throws {
        // A constraint that SQLite checks at the end of a transaction.
        let download = try await Download { store in try await store.execute("INSERT INTO children VALUES (1)") }
        try await download.shop.store.execute(
            """
            PRAGMA foreign_keys = ON;
            CREATE TABLE parents (id INTEGER PRIMARY KEY);
            CREATE TABLE children (id INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);
            """)
        await #expect(throws: TidelogError.self) { try await download.engine.download() }
        #expect(try Self.committed(download.shop.store) == 0)
        _ = try await download.shop.engine.download()
        #expect(try await download.shop.store.query("Customers").entities.count == 36)
        try await Self.expectLogIsState(download.shop)
    }

    private static func expectLogIsState(_ shop: Shop) async throws {
        let digest = try await shop.store.digest()
        await shop.store.close()
        shop.store.files.removeViews()
        let again = try await LocalStore(shop.store.files)
        #expect(try await again.digest() == digest)
    }
}

extension LocalStore {
    /// Executes SQL on the connection of the views, without involving the store.
    fileprivate func execute(_ sql: String) throws { try core.storedViews.connection.execute(sql) }
}
