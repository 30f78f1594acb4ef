import Gateway
import GatewayCore
import TestSupport
import Testing
import Views

/// The feeds in SQLite: publications in portions, and the files.
struct SQLiteFeedTests {
    private let directory = TemporaryDirectory()
    private let identity = FeedIdentity(endpoint: "shop", query: "Orders", shape: "1")
    private let description = FeedDescription(context: "c", version: "4.0")

    private var path: String { directory.path + "/feeds.db" }

    private func open(
        rows: Int = 2, pause: @escaping @Sendable () async throws(LedgerStorageError) -> Void = {}
    ) throws -> SQLiteFeedStorage {
        try SQLiteFeedStorage(path: path, now: { 5_000 }, limits: FeedPortions.Limits(rows: rows), pause: pause)
    }

    private func row(_ key: Int, _ value: UInt8) -> FeedChange {
        .row(FeedRow(key: "(\(key))", digest: RowDigest([value]), body: [value]))
    }

    @discardableResult
    private func publish(_ storage: SQLiteFeedStorage, _ changes: [FeedChange]) async throws -> FeedHead? {
        let feed = try await storage.feed(identity)
        let lease = try #require(try await storage.claim(feed.id, node: "a").lease)
        return try await storage.publish(lease, changes, description)
    }

    private func items() throws -> Int64 {
        try Connection(path: path).first("SELECT count(*) FROM item")?[0].integer ?? 0
    }

    private func removeMarks() {
        for suffix in ["", "-wal", "-shm"] { TemporaryDirectory.remove(file: path + "-marks" + suffix) }
    }

    /// A storage that a hook of its own uses.
    private actor Hook {
        var storage: SQLiteFeedStorage?
        var calls = 0
        func set(_ storage: SQLiteFeedStorage?) { self.storage = storage }
        func begin() -> SQLiteFeedStorage? {
            calls += 1
            return storage
        }
    }

    @Test func `marks, polls and other feeds are served between the portions of a publication`() async throws {
        let hook = Hook()
        let other = FeedIdentity(endpoint: "shop", query: "Items", shape: "1")
        let item = row(1, 7)
        let storage = try open { () async throws(LedgerStorageError) in
            guard let storage = await hook.begin() else { return }
            try await storage.markWrite(endpoint: "shop", user: [1])
            let written = try await storage.lastWrite(endpoint: "shop", user: [1])
            let feeds = try await storage.list()
            let rows = try await storage.rows(feeds[0].head.id, at: 1, after: nil, limit: 10)
            let changes = try await storage.changes(feeds[0].head.id, from: 0, to: 1, after: nil, limit: 10)
            let digests = try await storage.digests(feeds[0].head.id)
            #expect(written == 5_000 && feeds[0].head.generation == 1 && feeds[0].head.rows == 2)
            #expect(rows.count == 2 && changes.count == 2 && digests.count == 2)
            let feed = try await storage.feed(other)
            guard let lease = try await storage.claim(feed.id, node: "a").lease else { return }
            _ = try await storage.publish(lease, [item], FeedDescription())
        }
        try await publish(storage, [row(1, 1), row(2, 1)])
        await hook.set(storage)
        let changes = (1...9).map { row($0, 2) }
        let head = try #require(try await publish(storage, changes))
        await hook.set(nil)
        #expect(await hook.calls == 4)
        #expect(head.generation == 2 && head.rows == 9)
        #expect(try await storage.rows(head.id, at: 2, after: nil, limit: 10).map(\.change) == changes)
        #expect(try await storage.list().map(\.head.generation) == [2, 4])
    }

    @Test func `marks and polls do not wait for the connection that writes`() async throws {
        let storage = try open()
        let head = try #require(try await publish(storage, [row(1, 1)]))
        let writer = try Connection(path: path)
        // A transaction of the storage would fail after some seconds.
        try writer.execute("BEGIN IMMEDIATE; DELETE FROM item; DELETE FROM feed")
        try await storage.markWrite(endpoint: "shop", user: [1])
        #expect(try await storage.lastWrite(endpoint: "shop", user: [1]) == 5_000)
        #expect(try await storage.list().map(\.head) == [head])
        #expect(try await storage.head(head.id) == head)
        #expect(try await storage.rows(head.id, at: 1, after: nil, limit: 9).map(\.change) == [row(1, 1)])
        #expect(try await storage.changes(head.id, from: 0, to: 1, after: nil, limit: 9).count == 1)
        #expect(try await storage.digests(head.id) == ["(1)": RowDigest([1])])
        try writer.execute("ROLLBACK")
    }

    @Test(arguments: 0...3)
    func `an interrupted publication leaves the generation before, and the next one succeeds`(
        _ portions: Int
    ) async throws {
        let first = (1...6).map { row($0, 1) }
        let second: [FeedChange] = [
            row(1, 2), .removed(key: "(2)", .deleted), row(3, 2), .removed(key: "(4)", .changed), row(7, 2), row(8, 2),
            row(9, 2), .removed(key: "(6)", .deleted), row(5, 2), row(10, 2),
        ]
        let third = [FeedChange.removed(key: "(1)", .deleted), row(2, 3), row(11, 3)]
        try await publish(try open(), first)
        let hook = Hook()
        let failing = try open { () async throws(LedgerStorageError) in
            _ = await hook.begin()
            if await hook.calls > portions { throw LedgerStorageError("The process has ended.") }
        }
        await #expect(throws: LedgerStorageError.self) { try await publish(failing, second) }
        let storage = try open()
        let before = try #require(try await storage.list().first?.head)
        #expect(before.generation == 1 && before.rows == 6)
        #expect(try await storage.rows(before.id, at: 1, after: nil, limit: 99).map(\.change) == first)
        #expect(try await storage.digests(before.id).count == 6)
        #expect(try await storage.changes(before.id, from: 0, to: 1, after: nil, limit: 99).count == 6)
        if portions == 1 {
            // The removal of the leftovers can be interrupted as well.
            let again = try open(rows: 1) { () throws(LedgerStorageError) in throw LedgerStorageError("ended") }
            await #expect(throws: LedgerStorageError.self) { try await publish(again, third) }
        }
        let after = try #require(try await publish(storage, third))
        #expect(after.generation == 2 && after.rows == 6)
        var model = VersionedRows()
        model.publish(first, generation: 1)
        model.publish(third, generation: 2)
        #expect(try await storage.digests(after.id) == model.digests)
        for generation in Int64(1)...2 {
            #expect(
                try await storage.rows(after.id, at: generation, after: nil, limit: 99)
                    == model.rows(at: generation, after: nil, limit: 99))
        }
        #expect(
            try await storage.changes(after.id, from: 1, to: 2, after: nil, limit: 99)
                == model.changes(from: 1, to: 2, after: nil, limit: 99))
        #expect(try items() == 9)
    }

    @Test func `a reading without changes removes the rest of an interrupted publication`() async throws {
        try await publish(try open(), [row(1, 1)])
        let failing = try open(rows: 1) { () throws(LedgerStorageError) in throw LedgerStorageError("ended") }
        await #expect(throws: LedgerStorageError.self) { try await publish(failing, [row(1, 2), row(2, 2)]) }
        #expect(try items() == 2)
        let storage = try open()
        let head = try #require(try await publish(storage, []))
        #expect(head.generation == 1 && head.rows == 1)
        #expect(try items() == 1)
        #expect(try await storage.digests(head.id) == ["(1)": RowDigest([1])])
    }

    @Test func `a publication that is overtaken between two portions publishes nothing`() async throws {
        let hook = Hook()
        let storage = try open { () async throws(LedgerStorageError) in
            guard let storage = await hook.begin(), await hook.calls == 1 else { return }
            _ = try await storage.claim(1, node: "a")
        }
        await hook.set(storage)
        let feed = try await storage.feed(identity)
        let lease = try #require(try await storage.claim(feed.id, node: "a").lease)
        #expect(try await storage.publish(lease, (1...9).map { row($0, 1) }, description) == nil)
        await hook.set(nil)
        #expect(try await storage.head(feed.id)?.generation == 0)
        #expect(try await publish(storage, [row(1, 2)])?.rows == 1)
        #expect(try items() == 1)
    }

    @Test func `rows of a removed feed are deleted later if their deletion was interrupted`() async throws {
        try await publish(try open(), (1...5).map { row($0, 1) })
        let failing = try open { () throws(LedgerStorageError) in throw LedgerStorageError("ended") }
        var other = identity
        other.shape = "2"
        await #expect(throws: LedgerStorageError.self) { try await failing.feed(other) }
        #expect(try items() == 3)
        let storage = try open()
        let feed = try await storage.feed(other)
        #expect(try await storage.digests(feed.id) == [:])
        let lease = try #require(try await storage.claim(feed.id, node: "a").lease)
        #expect(try await storage.publish(lease, [row(9, 1)], description)?.generation == 1)
        #expect(try items() == 1)
    }

    @Test func `files of version 1 keep their rows and the changes of users`() async throws {
        let head = try #require(try await publish(try open(), [row(1, 1)]))
        removeMarks()
        let file = try Connection(path: path)
        try file.execute(
            """
            CREATE TABLE write_mark (
              endpoint TEXT NOT NULL, user BLOB NOT NULL, written INTEGER NOT NULL,
              PRIMARY KEY (endpoint, user)) STRICT, WITHOUT ROWID;
            INSERT INTO write_mark VALUES ('shop', x'01', 77);
            PRAGMA user_version = 1
            """)
        file.close()
        for _ in 0..<2 {
            let storage = try open()
            #expect(try await storage.list().map(\.head) == [head])
            #expect(try await storage.lastWrite(endpoint: "shop", user: [1]) == 77)
        }
        #expect(try Connection(path: path).first("PRAGMA user_version")?[0].integer == SQLiteFeedStorage.schemaVersion)
    }

    @Test func `without the changes of users, a feed is read before it answers`() async throws {
        let head = try #require(try await publish(try open(), [row(1, 1)]))
        removeMarks()
        let storage = try open()
        let found = try #require(try await storage.head(head.id))
        #expect(found.readBegan == nil && found.generation == 1 && found.salt == head.salt)
        let freshness = FeedFreshness(found, refreshMilliseconds: 60_000, written: nil, now: 5_001)
        #expect(freshness == .required(begunAfter: .min))
        #expect(try await publish(storage, [])?.readBegan == 5_000)
    }
}
