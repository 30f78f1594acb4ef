import EDM
import OperationLog
import Operations
import SyncCore
import TestSupport
import Testing
import Views

@testable import OfflineStore
@testable import SyncEngine

struct CompactionTests {
    private func first(_ store: LocalStore) async throws -> SequenceNumber { try await store.reader().firstSequence() }

    @Test func `a compaction that keeps everything removes nothing`() async throws {
        let shop = try await Shop(.v4, options: .small())
        try await shop.edit()
        let digest = try await shop.store.digest()
        let done = try await shop.store.compact(keeping: .everything)
        #expect(done.removedSegments == 0)
        #expect(done.firstSequence == 1)
        #expect(done.snapshot.digest == digest)
        #expect(try await shop.store.digest() == digest)
    }

    @Test func `a compaction without history keeps the state, and the store can be used afterwards`() async throws {
        let shop = try await Shop(.v4, options: .small())
        try await shop.edit()
        let digest = try await shop.store.digest()
        let next = await shop.store.nextSequence
        let done = try await shop.store.compact(keeping: .bytes(0))
        #expect(done.removedSegments > 1)
        #expect(done.bytesAfter < done.bytesBefore)
        #expect(done.firstSequence == next)
        #expect(try await first(shop.store) == next)
        #expect(done.snapshot.sequence == next)
        #expect(try await shop.store.digest() == digest)
        try await shop.perform(update("Orders(1)", ["Note": .string("behind")]))
        let behind = try await shop.store.digest()
        await shop.store.close()
        shop.store.files.removeViews()
        let again = try await LocalStore(shop.store.files, options: .small())
        #expect(try await again.digest() == behind)
        #expect(again.opened == ViewsReport(snapshot: next, foldedRecords: 1))
    }

    @Test func `repeated compactions, with and without changes between them, keep the state`() async throws {
        let shop = try await Shop(.v4, options: .small())
        for round in 0..<4 {
            if round == 0 { try await shop.edit() }
            try await shop.create("Customers", ["Name": .string("\(round)")])
            if round == 2 { try await shop.push() }
            let digest = try await shop.store.digest()
            for _ in 0..<2 {
                #expect(try await shop.store.compact(keeping: .bytes(0)).snapshot.digest == digest)
            }
            #expect(try await shop.store.digest() == digest)
            #expect(try await shop.store.reader().snapshots().count == 1)
        }
    }

    @Test(arguments: Dialect.allCases)
    func `an upload after a compaction sends the same bytes`(_ dialect: Dialect) async throws {
        var sent: [[[UInt8]]] = []
        var states: [[String]] = []
        for isCompacted in [false, true] {
            let shop = try await Shop(dialect, options: .small())
            try await shop.edit()
            if isCompacted {
                let before = try await shop.store.uploads.plan()
                _ = try await shop.store.compact(keeping: .bytes(0))
                #expect(try await shop.store.uploads.plan() == before)
            }
            sent.append(try await shop.uploadedBytes())
            states.append(try await shop.serviceState())
            #expect(try await shop.store.queue.pendingOperations().isEmpty)
        }
        #expect(!sent[0].isEmpty)
        #expect(sent[0] == sent[1])
        #expect(states[0] == states[1])
    }

    @Test func `an upload after the views were rebuilt from the snapshot sends the same requests`() async throws {
        let shop = try await Shop(.v4, options: .small())
        try await shop.edit()
        let plan = try await shop.store.uploads.plan()
        _ = try await shop.store.compact(keeping: .bytes(0))
        await shop.store.close()
        shop.store.files.removeViews()
        let store = try await LocalStore(shop.store.files, options: .small())
        #expect(try await store.uploads.plan() == plan)
        let report = try await SyncEngine(store: store, session: shop.engine.session).upload()
        #expect(report.remaining == 0)
        #expect(report.rejected.isEmpty)
    }

    @Test func `rejected operations and those in doubt or in flight keep their status`() async throws {
        let shop = try await Shop(.v4, options: .small())
        // Rejected, because the customer does not exist.
        try await shop.create("Orders", ["Note": .string("orphan"), "CustomerID": .integer(99)])
        try await shop.push()
        // One operation in doubt, whose response was not recorded, and one in flight.
        try await shop.create("Customers", ["Name": .string("Doubt")])
        _ = try await shop.store.prepare(shop.store.uploads.plan())
        try await shop.store.doubts.interruptOpenBatches()
        try await shop.perform(update("Customers(2)", ["Name": .string("Flight")]))
        _ = try await shop.store.prepare(shop.store.uploads.plan())
        let before = try await shop.store.queue.pendingOperations()
        let states = before.map { "\($0.status)".prefix { $0 != "(" } }
        #expect(states == ["rejected", "inDoubt", "inFlight"])
        _ = try await shop.store.compact(keeping: .bytes(0))
        #expect(try await shop.store.queue.pendingOperations() == before)
        await shop.store.close()
        shop.store.files.removeViews()
        let again = try await LocalStore(shop.store.files, options: .small())
        let after = try await again.queue.pendingOperations()
        // Opening marks the operation in flight as in doubt, as it does without a compaction.
        #expect(after.map(\.sequence) == before.map(\.sequence))
        #expect(after.map { "\($0.status)".prefix { $0 != "(" } } == ["rejected", "inDoubt", "inDoubt"])
        #expect(after[0] == before[0])
    }

    @Test func `without views and a valid snapshot, a compacted store does not open and states the reason`()
        async throws
    {
        let shop = try await Shop(.v4, options: .small())
        let done = try await shop.store.compact(keeping: .bytes(0))
        await shop.store.close()
        shop.store.files.removeViews()
        shop.store.files.damage(shop.store.files.snapshotPath(done.snapshot.sequence))
        await #expect {
            _ = try await LocalStore(shop.store.files, options: .small())
        } throws: { error in
            (error as? TidelogError)?.code == .damaged
        }
    }

    @Test func `views that disagree with the log stop a compaction, and nothing is removed`() async throws {
        let shop = try await Shop(.v4, options: .small())
        try await shop.edit()
        let digest = try await shop.store.digest()
        try await shop.store.forgetLinks()
        // A snapshot of these views contains the same error.
        try await shop.store.writeSnapshot()
        await #expect {
            _ = try await shop.store.compact(keeping: .bytes(0))
        } throws: { error in
            (error as? TidelogError)?.code == .damaged
        }
        #expect(try await first(shop.store) == 1)
        #expect(try await shop.store.reader().snapshots() == [])
        // The remedy that the error states.
        await shop.store.close()
        shop.store.files.removeViews()
        let again = try await LocalStore(shop.store.files, options: .small())
        #expect(try await again.digest() == digest)
        #expect(try await again.compact(keeping: .bytes(0)).snapshot.digest == digest)
    }

    // MARK: Windows

    /// Performs one update per hour, in segments that hold a few of them.
    private func longHistory(days: Int = 10) async throws -> Shop {
        let shop = try await Shop(.v4, options: .small(segmentSize: 512))
        for hour in 0..<24 * days { try await shop.perform(update("Orders(1)", ["Note": .string("hour \(hour)")])) }
        return shop
    }

    private func times(_ store: LocalStore) async throws -> [Timestamp] {
        var times: [Timestamp] = []
        try await store.reader().forEach { record in
            if let time = RecordCodec.time(kind: record.kind, payload: record.payload) { times.append(time) }
        }
        return times
    }

    @Test func `a window of days keeps the records of these days and few older ones`() async throws {
        let shop = try await longHistory()
        let all = try await times(shop.store)
        let done = try await shop.store.compact(keeping: .days(3))
        let kept = try await times(shop.store)
        // The clock advanced by an hour or two while the compaction read it.
        let limit = (all.last ?? 0) - 3 * 86_400_000
        #expect(kept.count >= all.count { $0 >= limit + 2 * 3_600_000 })
        #expect(kept.count <= all.count { $0 >= limit } + 40)
        #expect(kept == Array(all.suffix(kept.count)))
        #expect(done.firstSequence > 1)
    }

    @Test func `a window longer than the history keeps everything`() async throws {
        let shop = try await longHistory()
        #expect(try await shop.store.compact(keeping: .days(1_000)).firstSequence == 1)
        #expect(try await shop.store.compact(keeping: .days(.max)).firstSequence == 1)
        await #expect(throws: TidelogError.self) { try await shop.store.compact(keeping: .days(-1)) }
    }

    @Test func `each state within the kept window can be restored`() async throws {
        let shop = try await longHistory(days: 3)
        let all = try await digests(shop.store, from: 0)
        let done = try await shop.store.compact(keeping: .days(2))
        #expect(done.firstSequence > 1 && done.firstSequence < done.snapshot.sequence)
        #expect(try await shop.store.reader().snapshots().first?.sequence == done.firstSequence)
        let kept = try await digests(shop.store, from: done.firstSequence - 1)
        #expect(kept == Array(all.suffix(kept.count)))
        // A second compaction removes more records, and still keeps records before its snapshot.
        let again = try await shop.store.compact(keeping: .days(1))
        #expect(again.firstSequence > done.firstSequence && again.firstSequence < again.snapshot.sequence)
        let left = try await digests(shop.store, from: again.firstSequence - 1)
        #expect(left == Array(all.suffix(left.count)))
    }

    private func digests(_ store: LocalStore, from first: SequenceNumber) async throws -> [String] {
        var digests: [String] = []
        for sequence in first..<(await store.nextSequence) {
            let past = try await HistoricalStore(store.files, at: .sequence(sequence), options: .small())
            digests.append(try await past.store.digest())
        }
        return digests
    }

    @Test func `the snapshots of many compactions take at most as much space as the kept history`() async throws {
        let shop = try await Shop(.v4, options: .small(segmentSize: 512))
        for round in 0..<40 {
            for number in 0..<6 {
                try await shop.perform(update("Orders(1)", ["Note": .string("\(round), \(number)")]))
            }
            if round % 7 == 3 { try await shop.store.writeSnapshot() }
            _ = try await shop.store.compact(keeping: .bytes(20_000))
            let snapshots = try await shop.store.reader().snapshots()
            let log = try await shop.store.reader().segmentList().map(\.bytes).reduce(0, +)
            let between = snapshots.dropFirst().dropLast(2).map(\.bytes).reduce(0, +)
            #expect(between <= log, "\(snapshots.map(\.bytes)), \(log) bytes of log")
        }
        let first = try await first(shop.store)
        #expect(first > 1)
        // Each state that the window keeps can still be read.
        let kept = try await digests(shop.store, from: first - 1)
        #expect(Set(kept).count > 20)
        #expect(try await kept.last == shop.store.digest())
    }

    @Test func `a compaction that cannot be proved leaves few snapshots`() async throws {
        let shop = try await Shop(.v4, options: .small(segmentSize: 512))
        for round in 0..<8 {
            try await shop.perform(update("Orders(1)", ["Note": .string("\(round)")]))
            // As a compaction does before its proof, during which the process is killed.
            _ = try await shop.store.currentSnapshot()
        }
        #expect(try await shop.store.reader().snapshots().count == 8)
        try await shop.store.forgetLinks()
        try await shop.perform(update("Orders(1)", ["Note": .string("last")]))
        await #expect(throws: TidelogError.self) { _ = try await shop.store.compact(keeping: .bytes(0)) }
        #expect(try await shop.store.reader().snapshots().count <= 2)
    }

    @Test func `a window of bytes keeps the newest segments that fit`() async throws {
        let shop = try await longHistory()
        let before = try await shop.store.reader().segmentList()
        let limit: UInt64 = 4_000
        let done = try await shop.store.compact(keeping: .bytes(limit))
        let kept = try await shop.store.reader().segmentList()
        #expect(kept.map(\.bytes).reduce(0, +) <= limit)
        #expect(kept.count > 2)
        // The next older segment would exceed the limit.
        let next = try #require(before.last { $0.firstSequence < done.firstSequence })
        #expect(kept.map(\.bytes).reduce(0, +) + next.bytes > limit)
    }
}

extension LocalStore {
    /// Removes links from the views, as damage would.
    fileprivate func forgetLinks() throws { try core.storedViews.connection.execute("DELETE FROM links") }
}
