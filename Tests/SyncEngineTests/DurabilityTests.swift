import EDM
import OperationLog
import Operations
import SyncCore
import TestSupport
import Testing
@testable import OfflineStore

/// Durability settings: the time at which a call returns, and the commits that survive a stop of the machine.
struct DurabilityTests {
    static let delayed: [OperationLog.Options.Durability] = [.grouped, .interval(milliseconds: 60_000), .none]

    private func options(_ durability: OperationLog.Options.Durability) -> LocalStoreOptions {
        LocalStoreOptions(log: .init(durability: durability), snapshots: .manual)
    }

    private func note(_ text: String) -> Intent { update("Orders(1)", ["Note": .string(text)]) }

    @Test func `concurrent calls with grouped durability are logged once each, in the order of their sequence numbers`()
        async throws
    {
        let shop = try await Shop(.v4, options: options(.grouped))
        let first = await shop.store.nextSequence
        let sequences = try await withThrowingTaskGroup(of: SequenceNumber?.self) { group in
            for number in 0..<40 {
                group.addTask { try await shop.perform(note("\(number)"))[0].sequence }
            }
            var sequences: [SequenceNumber] = []
            for try await sequence in group { sequences.append(try #require(sequence)) }
            return sequences
        }
        #expect(sequences.sorted() == Array(first..<first + 40))
        let digest = try await shop.store.digest()
        await shop.store.close()
        shop.store.files.removeViews()
        let again = try await LocalStore(shop.store.files, options: options(.grouped))
        #expect(try await again.digest() == digest)
        #expect(try await again.queue.pendingOperations().map(\.sequence) == sequences.sorted())
    }

    @Test(arguments: [OperationLog.Options.Durability.everyCommit, .grouped])
    func `an operation is durable when its call returns`(_ durability: OperationLog.Options.Durability) async throws {
        let shop = try await Shop(.v4, options: options(durability))
        for number in 0..<5 {
            let sequence = try await shop.perform(note("\(number)"))[0].sequence
            #expect(await shop.store.log.durableSequence == sequence)
        }
    }

    @Test(arguments: delayed)
    func `a prepared batch is durable before it is sent, for each durability setting`(
        _ durability: OperationLog.Options.Durability
    ) async throws {
        let shop = try await Shop(.v4, options: options(durability))
        try await shop.perform(note("x"))
        _ = try await shop.store.prepare(shop.store.uploads.plan())
        let log = await shop.store.log
        #expect(log.durableSequence == log.nextSequence - 1)
    }

    @Test(arguments: delayed)
    func `the views lose the commits that the log lost in a power failure`(
        _ durability: OperationLog.Options.Durability
    ) async throws {
        let shop = try await Shop(.v4, options: options(durability))
        try await shop.perform(note("kept"))
        let digest = try await shop.store.digest()
        let next = await shop.store.nextSequence
        let segment = try #require(try await shop.store.reader().segmentList().last?.path)
        let kept = try #require(TemporaryDirectory.read(segment))
        try await shop.perform(note("lost"))
        try await shop.create("Customers", ["Name": .string("Phantom")])
        await shop.store.close()
        // The views contain more than the shortened log. Closing synced the log and then recorded its end; a loss of
        // power that loses unsynced commits happens before that.
        TemporaryDirectory.write(kept, to: segment)
        TemporaryDirectory.write([], to: "\(shop.store.files.log)/END")
        let again = try await LocalStore(shop.store.files, options: options(durability))
        #expect(again.recovery.count == 1)
        #expect(try await again.digest() == digest)
        #expect(await again.nextSequence == next)
        #expect(try await again.load(.link("Orders(1)")).values["Note"] == .string("kept"))
        _ = try await again.perform([(note("after"), IntentOptions())], asChangeSet: false)
        #expect(try await again.load(.link("Orders(1)")).values["Note"] == .string("after"))
    }
}
