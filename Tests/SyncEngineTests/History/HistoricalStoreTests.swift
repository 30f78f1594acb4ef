import EDM
import OperationLog
import Operations
import SyncCore
import SyncEngine
import Synchronization
import Testing
@testable import OfflineStore

struct HistoricalStoreTests {
    /// A session, with the state digest of the store after each call.
    private final class Session: Sendable {
        let shop: Shop
        let digests: Mutex<[SequenceNumber: String]> = Mutex([:])

        init(_ dialect: Dialect = .v4, options: LocalStoreOptions = .init()) async throws {
            var options = options
            let clock = Mutex<Timestamp>(0)
            // Each reading advances the clock by a second.
            options.environment = SyncEnvironment(
                now: {
                    clock.withLock { time in
                        time += 1000
                        return time
                    }
                })
            shop = try await Shop(dialect, options: options)
            try await note()
        }

        /// Sequence number of the last record.
        var last: SequenceNumber {
            get async { await shop.store.nextSequence - 1 }
        }

        func note() async throws {
            let (last, digest) = (await last, try await shop.store.digest())
            digests.withLock { $0[last] = digest }
        }

        func past(_ point: PointInTime, keys: [LogKey] = []) async throws -> HistoricalStore {
            var options = LocalStoreOptions()
            options.log.keys = keys
            return try await HistoricalStore(shop.store.files, at: point, options: options)
        }

        /// Creates, links, changes, uploads, deletes and downloads entities.
        func run() async throws {
            let customer = try await shop.create("Customers", ["Name": .string("Ada")])
            try await note()
            let order = try await shop.create("Orders", ["Note": .string("first")], bind: [bind("Customer", customer)])
            try await note()
            try await shop.perform(update(order, ["Note": .string("second")]))
            try await note()
            _ = try await shop.engine.upload()
            try await note()
            try await shop.perform(.delete(.link(order)))
            try await note()
            _ = try await shop.engine.download()
            try await note()
        }

        func expectAll(keys: [LogKey] = []) async throws {
            for (sequence, digest) in digests.withLock({ $0 }) {
                let past = try await past(.sequence(sequence), keys: keys)
                #expect(past.sequence == sequence)
                #expect(try await past.store.digest() == digest, "at \(sequence)")
            }
        }
    }

    @Test(arguments: Dialect.allCases)
    func `a historical store has the state of the store at that time`(dialect: Dialect) async throws {
        let session = try await Session(dialect)
        try await session.run()
        try await session.expectAll()
    }

    @Test func `a historical store that starts with a snapshot has the same state`() async throws {
        let session = try await Session()
        try await session.run()
        _ = try await session.shop.store.writeSnapshot()
        try await session.run()
        try await session.expectAll()
        let last = await session.last
        #expect(try await session.past(.sequence(last)).store.opened.snapshot != nil)
    }

    @Test func `a historical store of an encrypted store requires the key`() async throws {
        let key = try #require(LogKey(Array(0..<32)))
        var options = LocalStoreOptions()
        options.log.keys = [key]
        let session = try await Session(options: options)
        try await session.run()
        try await session.expectAll(keys: [key])
        let error = await #expect(throws: TidelogError.self) { try await session.past(.sequence(3)) }
        #expect(error?.code == .keyRequired)
    }

    @Test func `a time selects the last record that was appended by then`() async throws {
        let session = try await Session()
        try await session.run()
        var times: [(SequenceNumber, Timestamp)] = []
        try await session.shop.store.reader().forEach { record in
            times.append((record.sequence, try RecordCodec.decode(kind: record.kind, payload: record.payload).time))
        }
        for (sequence, time) in times {
            let until = times.last { $0.1 <= time }?.0
            #expect(try await session.past(.time(time)).sequence == until, "\(sequence)")
        }
        #expect(try await session.past(.time(-1)).sequence == 0)
        #expect(try await session.past(.time(.max)).sequence == session.last)
    }

    @Test func `a batch without a response is in flight in the historical store`() async throws {
        let session = try await Session()
        try await session.run()
        let prepared = try #require(
            try await session.shop.store.reader().records().first { record in
                let body = try RecordCodec.decode(kind: record.kind, payload: record.payload).body
                if case .batchPrepared = body { return true } else { return false }
            })
        let past = try await session.past(.sequence(prepared.sequence))
        let states = try await past.store.queue.pendingOperations().map(\.status.kind)
        #expect(states.contains(.inFlight))
        #expect(!states.contains(.inDoubt))
    }

    @Test func `changes of a historical store do not affect the store`() async throws {
        let session = try await Session()
        try await session.run()
        let before = try await session.shop.store.digest()
        let end = await session.last
        let past = try await session.past(.sequence(end))
        _ = try await past.store.perform(
            [(update("Customers(1)", ["Name": .string("Eve")]), IntentOptions())], asChangeSet: false)
        #expect(try await past.store.load(.link("Customers(1)")).values["Name"] == .string("Eve"))
        #expect(try await session.shop.store.digest() == before)
        #expect(try await session.past(.sequence(end + 1)).sequence == end)
    }

    @Test func `a time before a compaction is refused, with the first available record`() async throws {
        let session = try await Session()
        try await session.run()
        _ = try await session.shop.store.compact(keeping: .bytes(0))
        let error = await #expect(throws: TidelogError.self) { try await session.past(.sequence(1)) }
        #expect(error?.code == .notFound)
        let last = await session.last
        #expect(try await session.past(.sequence(last)).store.digest() == session.shop.store.digest())
        #expect(try await session.past(.sequence(.max)).sequence == last)
    }
}

extension LogCursor {
    fileprivate func first(where condition: (LogRecord) throws -> Bool) throws -> LogRecord? {
        while let record = try next() { if try condition(record) { return record } }
        return nil
    }
}
