import Testing

@testable import OperationLog

/// The rules of the shared sync, tested without threads.
@Suite struct SyncProgressTests {
    @Test func `who needs what is durable need do nothing`() {
        #expect(SyncProgress(durable: 7).turn(for: 7) == .durable)
    }

    @Test func `where nobody syncs, the one who needs it does`() {
        var progress = SyncProgress(durable: 7)
        progress.didEncode(through: 8)
        #expect(progress.turn(for: 8) == .lead)
    }

    @Test func `what is encoded before the sync begins is covered by it, what comes later by the next`() {
        var progress = SyncProgress(durable: 0)
        progress.didEncode(through: 1)
        progress.beginGathering()
        progress.didEncode(through: 2)
        #expect(progress.turn(for: 2) == .wait(round: 1))
        progress.didWrite()
        progress.beginSync()
        progress.didEncode(through: 3)
        #expect(progress.turn(for: 2) == .wait(round: 1))
        #expect(progress.turn(for: 3) == .wait(round: 2))
        progress.endSync(isDurable: true)
        #expect(progress.turn(for: 2) == .durable)
        #expect(progress.turn(for: 3) == .lead)
    }

    @Test func `what was written while a sync ran is not durable after it`() {
        var progress = SyncProgress(durable: 0)
        progress.didEncode(through: 1)
        progress.beginGathering()
        progress.didWrite()
        progress.beginSync()
        progress.didEncode(through: 2)
        #expect(progress.isWrittenCovered)
        progress.didWrite()
        #expect(!progress.isWrittenCovered)
        progress.endSync(isDurable: true)
        #expect(progress.durable == 1 && !progress.isWrittenDurable)
    }

    @Test func `a sync that fails makes nothing durable`() {
        var progress = SyncProgress(durable: 4)
        progress.didEncode(through: 5)
        progress.beginGathering()
        progress.didWrite()
        progress.beginSync()
        progress.endSync(isDurable: false)
        #expect(progress.durable == 4 && progress.phase == .idle)
    }
}
