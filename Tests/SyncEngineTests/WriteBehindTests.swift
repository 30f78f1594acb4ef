import EDM
import OperationLog
import Operations
import SyncCore
import TestSupport
import Testing
import Views
@testable import OfflineStore

/// Local operations, whose changes reach the stored views later than the log.
struct WriteBehindTests {
    private func shop(unflushedLimit: Int) async throws -> Shop {
        var options = LocalStoreOptions(snapshots: .manual)
        options.unflushedLimit = unflushedLimit
        return try await Shop(.v4, options: options)
    }

    @Test func `an operation reaches the stored views with the next query`() async throws {
        let shop = try await shop(unflushedLimit: 1_000)
        _ = try await shop.store.query("Orders")
        let before = try await shop.store.storedApplied()
        let link = try await shop.create("Customers", ["Name": .string("Ada")])
        #expect(try await shop.store.storedApplied() == before)
        #expect(try await shop.store.load(.link(link)).values["Name"] == .string("Ada"))
        #expect(try await shop.store.query("Customers?$filter=Name eq 'Ada'").entities.count == 1)
        #expect(try await shop.store.storedApplied() > before)
    }

    @Test func `repeated updates of one entity are flushed after the limit`() async throws {
        let shop = try await shop(unflushedLimit: 10)
        _ = try await shop.store.query("Orders")
        let before = try await shop.store.storedApplied()
        for number in 0..<25 { try await shop.perform(update("Orders(1)", ["Note": .string("\(number)")])) }
        let unflushed = try await shop.store.nextSequence - 1 - shop.store.storedApplied()
        #expect(try await shop.store.storedApplied() > before)
        #expect(unflushed < 10)
    }

    @Test func `the state from the log includes operations that were not flushed`() async throws {
        let shop = try await shop(unflushedLimit: 1_000)
        _ = try await shop.store.query("Orders")
        for number in 0..<20 { try await shop.perform(update("Orders(1)", ["Note": .string("\(number)")])) }
        let digest = try await shop.loggedDigest()
        #expect(try await shop.store.digest() == digest)
    }

    @Test func `a refused operation leaves no trace among unflushed ones`() async throws {
        let shop = try await shop(unflushedLimit: 1_000)
        let link = try await shop.create("Customers", ["Name": .string("Ada")])
        let count = try await shop.store.queue.pendingOperations().count
        await #expect(throws: TidelogError.self) {
            try await shop.perform(update(link, ["Nonsense": .string("x")]))
        }
        await #expect(throws: TidelogError.self) {
            try await shop.perform(update(link, ["Name": .integer(1)]))
        }
        #expect(try await shop.store.queue.pendingOperations().count == count)
        #expect(try await shop.store.digest() == shop.loggedDigest())
    }

    @Test func `without a limit for unflushed items each commit reaches the views`() async throws {
        let shop = try await shop(unflushedLimit: 0)
        try await shop.create("Customers", ["Name": .string("Ada")])
        #expect(try await shop.store.storedApplied() == shop.store.nextSequence - 1)
    }
}

extension LocalStore {
    /// The last record that the stored views contain.
    fileprivate func storedApplied() throws -> SequenceNumber { try core.storedViews.header().applied }
}

extension Shop {
    /// Returns the digest of the state that the log alone gives.
    fileprivate func loggedDigest() async throws -> String {
        let memory = WorkingSet()
        var fold = try Fold(storage: memory)
        let (records, first) = try await store.allRecords()
        for (place, record) in records.enumerated() {
            try fold.apply(record, sequence: first + UInt64(place))
            try fold.finishRebase()
        }
        return try StateDigest(of: memory).description
    }
}

extension LocalStore {
    fileprivate func allRecords() throws -> ([Record], SequenceNumber) {
        let reader = try reader()
        let cursor = reader.records(from: 1)
        let decoder = RecordDecoder()
        var records: [Record] = []
        while let next = try cursor.next() { records.append(try ViewsOpener.decoded(next, decoder)) }
        return (records, 1)
    }
}
