import EDM
import Operations
import SyncCore
import Testing
import Views

/// Working sets that are written to their backing after each record, after 2 or 17 records, or at the end. All of them
/// return the same results as a working set without a backing.
struct FlushIntervalTests {
    /// The numbers of records after which a working set is written.
    private enum Interval: Int, CaseIterable {
        case one = 1
        case two = 2
        case seventeen = 17
        case never = 1_000_000
    }

    static let seeds: [UInt64] = [1, 2, 3]
    private static let count = 100
    private static let questions = 3

    /// The results after each record, and the pending states of entities.
    private struct Transcript {
        var answers: [[String]] = []
        var standings: [[String]] = []

        mutating func note(_ state: WorkingSet, _ fold: Fold, _ seed: UInt64, after index: Int) throws {
            let seed = seed &* 1_000 &+ UInt64(index)
            answers.append(
                try StateSample.answers(of: state, fold.model, seed: seed, count: FlushIntervalTests.questions))
            // Only with a backing.
            guard state.backing != nil else { return }
            standings.append(try (UInt64(1)..<60).map { "\($0) \(try state.pendingState(of: EntityID(rawValue: $0)))" })
        }
    }

    /// Reverts short queues as a whole, and a part of long ones.
    private func fold(_ state: WorkingSet, _ seed: UInt64) throws -> Fold {
        var fold = try Fold(storage: state)
        fold.longQueue = [0, 4, 256][Int(seed % 3)]
        return fold
    }

    private func measure(_ log: FoldedLog) throws -> Transcript {
        let state = WorkingSet()
        var fold = try fold(state, log.seed)
        var transcript = Transcript()
        for index in log.records.indices {
            try log.apply(index..<index + 1, &fold)
            try transcript.note(state, fold, log.seed, after: index)
        }
        return transcript
    }

    private func expectSame(_ found: [[String]], _ measure: [[String]], _ what: String) {
        #expect(found.count == measure.count, "\(what)")
        for (index, (found, measure)) in zip(found, measure).enumerated() where found != measure {
            let differing = zip(found, measure).filter { $0 != $1 }.map { "\($0), not \($1)" }
            Issue.record("\(what), after record \(index + 1): \(differing)")
            return
        }
    }

    /// Applies the next records or different ones and rolls them back, as for a refused operation or a dry run.
    private func rehearse(
        _ state: WorkingSet, _ fold: Fold, _ log: FoldedLog, at index: Int, _ random: inout RandomRecords
    ) {
        struct Stop: Error {}
        var fold = fold
        let places = (0..<random.number(1..<5)).map { _ in random.number(index..<log.records.count) }
        let flushes = random.chance(50)
        #expect(throws: Stop.self) {
            try state.transaction {
                for (step, place) in places.enumerated() {
                    try fold.apply(log.records[place], sequence: SequenceNumber(index + step + 1))
                    if flushes { try state.flush() }
                    try fold.finishRebase()
                    if flushes { try state.flush() }
                }
                throw Stop()
            }
        }
    }

    // MARK: Flushes at the end of transactions

    @Test(arguments: seeds)
    func `a working set returns the same results whenever it is written`(_ seed: UInt64) throws {
        let log = try FoldedLog(seed: seed, count: Self.count)
        let measure = try measure(log)
        var standings: [[String]]?
        for interval in Interval.allCases {
            let found = try answers(log, interval)
            expectSame(found.answers, measure.answers, "seed \(seed), \(interval)")
            expectSame(found.standings, standings ?? found.standings, "seed \(seed), \(interval)")
            standings = found.standings
        }
    }

    /// Opens the views again after each transaction, and rolls back other transactions in between.
    private func answers(_ log: FoldedLog, _ interval: Interval) throws -> Transcript {
        var random = RandomRecords(seed: log.seed &+ 5_000)
        let file = ViewsFile()
        var state = try file.openState(flushLimit: .max)
        var fold = try fold(state, log.seed)
        var transcript = Transcript()
        var index = 0
        while index < log.records.count {
            if random.chance(25) { rehearse(state, fold, log, at: index, &random) }
            let end = min(log.records.count, index + interval.rawValue)
            try state.transaction {
                for place in index..<end {
                    try log.apply(place..<place + 1, &fold)
                    try transcript.note(state, fold, log.seed, after: place)
                }
            }
            index = end
            state.close()
            state = try file.openState(flushLimit: .max)
            fold = try self.fold(state, log.seed)
            guard interval.rawValue > 2 || index % 10 == 0 else { continue }
            #expect(
                try StateDigest(of: state) == log[SequenceNumber(index)],
                "seed \(log.seed), \(interval), after record \(index)")
        }
        return transcript
    }

    // MARK: Flushes inside of a transaction

    @Test(arguments: seeds)
    func `a working set returns the same results whenever it is written during a transaction`(_ seed: UInt64) throws {
        let log = try FoldedLog(seed: seed &+ 100, count: Self.count)
        let measure = try measure(log)
        for interval in Interval.allCases {
            let (name, file) = ("seed \(log.seed), \(interval)", ViewsFile())
            let state = try file.openState(flushLimit: .max)
            var fold = try fold(state, log.seed)
            var transcript = Transcript()
            try state.transaction {
                for index in log.records.indices {
                    try fold.apply(log.records[index], sequence: SequenceNumber(index + 1))
                    // Also while the pending operations are reverted.
                    if index % interval.rawValue == interval.rawValue - 1 { try state.flush() }
                    try fold.finishRebase()
                    try transcript.note(state, fold, log.seed, after: index)
                }
            }
            #expect(try StateDigest(of: state) == log[SequenceNumber(log.records.count)], "\(name)")
            expectSame(transcript.answers, measure.answers, name)
        }
    }
}
