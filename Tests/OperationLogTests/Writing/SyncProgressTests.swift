import Testing

@testable import OperationLog

/// The rules of the shared sync, tested without threads.
@Suite struct SyncProgressTests {
    @Test func `a caller that waits for a durable record does nothing`() {
        #expect(SyncProgress(durable: 7).turn(for: 7) == .durable)
    }

    @Test func `a caller leads the sync if no sync is running`() {
        var progress = SyncProgress(durable: 7)
        progress.didEncode(through: 8)
        #expect(progress.turn(for: 8) == .lead)
    }

    @Test func `a sync covers the records that were encoded before it began, and the next sync covers later ones`() {
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

    @Test func `records that were written during a sync are not durable after it`() {
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
