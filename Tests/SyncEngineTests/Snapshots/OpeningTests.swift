import EDM
import OperationLog
import Operations
import TestSupport
import Testing
import Views

@testable import OfflineStore
@testable import SyncEngine

/// Opening a store whose views are missing or unusable.
struct OpeningTests {
    /// A closed store with two snapshots and operations after each of them.
    private struct Closed {
        let shop: Shop
        let older: StoreSnapshot
        let newer: StoreSnapshot
        let digest: String
        let nextSequence: SequenceNumber

        var files: StoreFiles { shop.store.files }

        init() async throws {
            shop = try await Shop(.v4, options: .small())
            try await shop.edit()
            older = try await shop.store.writeSnapshot()
            for note in 0..<6 { try await shop.perform(update("Orders(2)", ["Note": .string("\(note)")])) }
            newer = try await shop.store.writeSnapshot()
            for note in 0..<9 { try await shop.perform(update("Orders(1)", ["Note": .string("\(note)")])) }
            digest = try await shop.store.digest()
            nextSequence = await shop.store.nextSequence
            await shop.store.close()
            files.removeViews()
        }

        func open() async throws -> LocalStore { try await LocalStore(files, options: .small()) }
    }

    @Test func `missing views are rebuilt from the newest snapshot and the records after it`() async throws {
        let closed = try await Closed()
        let store = try await closed.open()
        #expect(try await store.digest() == closed.digest)
        #expect(store.opened == ViewsReport(snapshot: closed.newer.sequence, foldedRecords: 9))
        #expect(store.recovery == [])
    }

    @Test func `damaged views are rebuilt from the newest snapshot, and the store reports it`() async throws {
        let closed = try await Closed()
        TemporaryDirectory.write(Array("this is no database".utf8), to: closed.files.views)
        let store = try await closed.open()
        #expect(try await store.digest() == closed.digest)
        #expect(store.opened.snapshot == closed.newer.sequence)
        #expect(store.recovery.count == 1)
    }

    @Test func `existing views catch up without a snapshot`() async throws {
        let closed = try await Closed()
        await (try closed.open()).close()
        let store = try await closed.open()
        #expect(store.opened == ViewsReport(snapshot: nil, foldedRecords: 0))
        #expect(try await store.digest() == closed.digest)
    }

    @Test func `a damaged snapshot is skipped in favor of the previous one`() async throws {
        let closed = try await Closed()
        closed.files.damage(closed.files.snapshotPath(closed.newer.sequence))
        let store = try await closed.open()
        #expect(try await store.digest() == closed.digest)
        #expect(store.opened.snapshot == closed.older.sequence)
        #expect(store.opened.foldedRecords == Int(closed.nextSequence - closed.older.sequence))
        #expect(store.recovery.count == 1)
    }

    @Test func `without a valid snapshot, the whole log is folded`() async throws {
        let closed = try await Closed()
        for snapshot in [closed.newer, closed.older] {
            closed.files.damage(closed.files.snapshotPath(snapshot.sequence))
        }
        let store = try await closed.open()
        #expect(try await store.digest() == closed.digest)
        #expect(store.opened == ViewsReport(snapshot: nil, foldedRecords: Int(closed.nextSequence - 1)))
        #expect(store.recovery.count == 2)
    }

    @Test func `a snapshot of another state with valid checksums is skipped`() async throws {
        let closed = try await Closed()
        // An older snapshot under the name of the newer one.
        let bytes = try #require(TemporaryDirectory.read(closed.files.snapshotPath(closed.older.sequence)))
        TemporaryDirectory.write(bytes, to: closed.files.snapshotPath(closed.newer.sequence))
        let store = try await closed.open()
        #expect(try await store.digest() == closed.digest)
        #expect(store.opened.snapshot == closed.older.sequence)
    }

    @Test func `views that were open when the machine stopped are rebuilt, and the store reports it`() async throws {
        let shop = try await Shop(.v4, options: .small())
        try await shop.edit()
        let digest = try await shop.store.digest()
        try await shop.store.stopMachine()
        let store = try await LocalStore(shop.store.files, options: .small())
        #expect(store.recovery.count == 1)
        #expect(store.opened.foldedRecords > 0)
        #expect(try await store.digest() == digest)
    }

    @Test func `the number of folded records without views does not grow with the history`() async throws {
        let policy = SnapshotPolicy.automatic(growth: 8_192)
        let shop = try await Shop(.v4, options: .small(snapshots: policy))
        let files = shop.store.files
        await shop.store.close()
        var folded: [Int] = []
        for session in 0..<8 {
            files.removeViews()
            let store = try await LocalStore(files, options: .small(snapshots: policy))
            folded.append(store.opened.foldedRecords)
            // Confirmed operations leave the queue, so the size of the state does not grow either.
            let engine = SyncEngine(store: store, session: shop.engine.session)
            for number in 0..<60 {
                let change = update("Orders(1)", ["Note": .string("\(session) \(number)")])
                _ = try await store.perform([(change, IntentOptions())], asChangeSet: false)
            }
            _ = try await engine.upload()
            #expect(await store.snapshotFailure == nil)
            await store.close()
        }
        // Each session appends more than 60 records.
        #expect(folded.max() ?? 0 < 400, "\(folded)")
        #expect(folded.dropFirst(2).contains { $0 < 100 }, "\(folded)")
    }

    @Test func `an automatic snapshot waits until the log has grown by the size of the last snapshot`() async throws {
        let shop = try await Shop(.v4, options: .small(snapshots: .automatic(growth: 1)))
        try await shop.push()
        let first = try #require(try await shop.store.reader().snapshots().last)
        try await shop.perform(update("Orders(1)", ["Note": .string("x")]))
        await shop.store.writeSnapshotIfDue()
        #expect(try await shop.store.reader().snapshots().last == first)
    }
}

extension LocalStore {
    /// Leaves the views as a stop of the machine would, during an earlier run of the system.
    fileprivate func stopMachine() throws {
        try core.storedViews.connection.execute("UPDATE header SET writing = 'an earlier run'")
        core.storedViews.connection.close()
        core.log.close()
    }
}
