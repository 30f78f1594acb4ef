import DiskSimulation
import OperationLog
import Operations
import SeededRandom
import SyncCore
import Testing

@testable import Views

/// Crashes, failures and a full disk at each write of a transaction. The views match the record up to which they are
/// applied.
struct FlushFaultTests {
    struct Case: Sendable, CustomTestStringConvertible, CustomStringConvertible {
        let seed: UInt64
        let isSealed: Bool
        /// The number of changed items that are collected before they are written.
        let flushLimit: Int
        /// The numbers of records before the transaction and in it.
        let before: Int
        let count: Int
        /// Whether the views were closed before, so that the transaction marks them as being written.
        let wasClosed: Bool
        /// The distance between two writes that fail.
        let step: Int
        /// The number of kinds of failures for each of them.
        let ways: Int

        var end: Int { before + count }
        var testDescription: String {
            "seed \(seed), \(isSealed ? "encrypted" : "plain"), \(count) records, flushed after \(flushLimit)"
        }
        var description: String { testDescription }
    }

    static let cases = [
        Case(
            seed: 1, isSealed: false, flushLimit: 20_000, before: 24, count: 2, wasClosed: true, step: 1, ways: 1),
        Case(
            seed: 2, isSealed: true, flushLimit: 20_000, before: 24, count: 2, wasClosed: true, step: 1, ways: 2),
        Case(seed: 3, isSealed: false, flushLimit: 7, before: 24, count: 24, wasClosed: false, step: 5, ways: 1),
        Case(seed: 4, isSealed: true, flushLimit: 1, before: 24, count: 24, wasClosed: false, step: 5, ways: 1),
    ]

    /// The views and the log with the records before.
    private func prepared(_ test: Case) throws -> (views: ViewsOnDisk, log: FoldedLog) {
        let log = try FoldedLog(seed: test.seed, count: test.end)
        let views = ViewsOnDisk(isSealed: test.isSealed)
        let state = try views.openState()
        let half = test.before / 2
        try log.fold(0..<half, into: state)
        try log.fold(half..<test.before, into: state)
        if test.wasClosed { state.close() }
        defer { state.close() }
        return (views.on(views.disk.copy()), log)
    }

    /// Returns the number of calls of the disk by the transaction.
    private func calls(_ views: ViewsOnDisk, _ log: FoldedLog, _ test: Case) throws -> Int {
        let views = views.on(views.disk.copy())
        let state = try views.openState(flushLimit: test.flushLimit)
        defer { state.close() }
        let before = views.disk.calls
        try log.fold(test.before..<test.end, into: state)
        return views.disk.calls - before
    }

    // MARK: Crashes

    @Test(arguments: cases)
    func `a crash at any write leaves the state before or after the transaction`(_ test: Case) throws {
        let (base, log) = try prepared(test)
        var random = SeededRandom(seed: .testSeed())
        var (points, damaged, stopped) = (0, 0, 0)
        for call in stride(from: 0, to: try calls(base, log, test), by: test.step) {
            let views = base.on(base.disk.copy())
            let state = try views.openState(flushLimit: test.flushLimit)
            views.disk.fail(atCall: views.disk.calls + call, .crash)
            try? log.fold(test.before..<test.end, into: state)
            let name = "\(test), call \(call)"
            #expect(views.disk.hasCrashed, "\(name)")
            // The process has ended: all writes are kept.
            let isWhole = try check(views.on(views.disk.copy()), log, test, boot: "Monday", name)
            if !isWhole { damaged += 1 }
            // The machine has stopped: any part of the writes without a sync is kept.
            for _ in 0..<2 {
                let image = views.on(views.disk.random(&random))
                if try !check(image, log, test, boot: "Tuesday", name + ", power lost") { stopped += 1 }
            }
            points += 1
            state.close()
        }
        print(
            "crashes of a flush, \(test): \(points), \(damaged) damaged by an ended process; \(stopped) of "
                + "\(2 * points) by a loss of power")
        // All writes of a process that ended are kept.
        if !test.isSealed { #expect(damaged == 0, "\(test)") }
    }

    /// Opens the remaining files, which must contain one of two states, and continues. Returns false if they are damaged,
    /// so that the views are built again from the log.
    private func check(
        _ views: ViewsOnDisk, _ log: FoldedLog, _ test: Case, boot: String, _ name: String
    ) throws -> Bool {
        let state: WorkingSet
        do { state = try views.openState(boot: boot) } catch let error as StateError where error.code == .damaged {
            if boot == "Monday" { print("\(name): \(error.message)") }
            return false
        }
        defer { state.close() }
        let applied = try state.header().applied
        guard applied > 0 else {
            // The file or its name does not exist yet.
            #expect(boot == "Tuesday", "\(name): the views are gone")
            return true
        }
        #expect([test.before, test.end].contains(Int(applied)), "\(name): \(applied) applied")
        #expect(try StateDigest(of: state) == log[applied], "\(name): not the state behind \(applied)")
        if applied < test.end { try log.fold(Int(applied)..<test.end, into: state) }
        #expect(try StateDigest(of: state) == log[SequenceNumber(test.end)], "\(name): not the same in the end")
        return true
    }

    // MARK: Refusals

    struct Refusal: Sendable {
        let fault: SimulatedDisk.Fault
        let isForEver: Bool

        static let all = [
            Refusal(fault: .refuse, isForEver: false), Refusal(fault: .refuse, isForEver: true),
            Refusal(fault: .full, isForEver: false), Refusal(fault: .full, isForEver: true),
        ]
    }

    @Test(arguments: cases)
    func `if any write fails, the transaction has taken effect or can be repeated`(_ test: Case) throws {
        let (base, log) = try prepared(test)
        var (refused, done) = (0, 0)
        for call in stride(from: 0, to: try calls(base, log, test), by: test.step) {
            for way in 0..<test.ways {
                let refusal = Refusal.all[(call / test.step + way) % Refusal.all.count]
                let views = base.on(base.disk.copy())
                let state = try views.openState(flushLimit: test.flushLimit)
                let name = "\(test), call \(call), \(refusal.fault)\(refusal.isForEver ? " for ever" : "")"
                let failure = try views.disk.failing(atNext: call, refusal.fault, forEver: refusal.isForEver) {
                    try attempt(state, views, log, test, name)
                }
                let applied = SequenceNumber(failure == nil ? test.end : test.before)
                if failure == nil { done += 1 } else { refused += 1 }
                #expect(failure == nil || failure?.code == .unavailable, "\(name): \(failure?.message ?? "")")
                #expect(try state.header().applied == applied, "\(name)")
                #expect(try StateDigest(of: state) == log[applied], "\(name): not the state behind \(applied)")
                if failure != nil { try log.fold(test.before..<test.end, into: state) }
                #expect(try StateDigest(of: state) == log[SequenceNumber(test.end)], "\(name): not the same in the end")
                try checkEnd(state, views, log, test, name)
            }
        }
        print("refused writes of a flush, \(test): \(refused) taken back, \(done) done all the same")
    }

    /// Folds the records while the disk fails. If the state can be read meanwhile, it is correct.
    private func attempt(
        _ state: WorkingSet, _ views: ViewsOnDisk, _ log: FoldedLog, _ test: Case, _ name: String
    ) throws -> StateError? {
        var failure: StateError?
        do { try log.fold(test.before..<test.end, into: state) } catch let error as StateError { failure = error }
        let applied = SequenceNumber(failure == nil ? test.end : test.before)
        if let digest = try? StateDigest(of: state) {
            #expect(digest == log[applied], "\(name): wrong while the disk refuses")
        }
        return failure
    }

    /// Checks that the files contain the state after the process has ended and, if they were closed, after a crash of the
    /// machine.
    private func checkEnd(
        _ state: WorkingSet, _ views: ViewsOnDisk, _ log: FoldedLog, _ test: Case, _ name: String
    ) throws {
        let end = log[SequenceNumber(test.end)]
        // A part of a mark may have been written.
        expect(
            end, of: views.on(views.disk.copy()), boot: "Monday", mayBeDamaged: test.isSealed,
            "\(name), the process ended")
        state.close()
        expect(
            end, of: views.on(views.disk.withoutUnsynced()), boot: "Tuesday", mayBeDamaged: false,
            "\(name), closed, power lost")
    }

    private func expect(
        _ digest: StateDigest, of views: ViewsOnDisk, boot: String, mayBeDamaged: Bool, _ name: String
    ) {
        do {
            let state = try views.openState(boot: boot)
            #expect(try StateDigest(of: state) == digest, "\(name): another state")
            state.close()
        } catch {
            if mayBeDamaged, (error as? StateError)?.code == .damaged { return }
            Issue.record("\(name): \(error)")
        }
    }

    @Test(arguments: [false, true])
    func `if any write of the first opening fails, the next one opens or finds damage`(_ isSealed: Bool) throws {
        let whole = ViewsOnDisk(isSealed: isSealed)
        try whole.open().close()
        for call in 0..<whole.disk.calls {
            for refusal in Refusal.all {
                let views = ViewsOnDisk(isSealed: isSealed)
                let name = "call \(call), \(refusal.fault)"
                views.disk.failing(atNext: call, refusal.fault, forEver: refusal.isForEver) {
                    _ = try? views.open().close()
                }
                do {
                    let state = try views.open()
                    #expect(try state.header().applied == 0, "\(name)")
                    state.close()
                } catch let error as StateError {
                    #expect(error.code == .damaged, "\(name): \(error.message)")
                }
            }
        }
    }
}
