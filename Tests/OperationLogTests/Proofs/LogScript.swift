import OperationLog

/// What a program does with a log, and what it may rely on when the disk stopped it somewhere in between.
struct LogScript: Sendable {
    enum Step: Sendable {
        /// One commit of so many records.
        case append(Int)
        /// One commit of so many records that is not waited for.
        case write(Int)
        case sync
        /// The log is closed and opened again.
        case reopen
    }

    var steps: [Step]
    var options: OperationLog.Options

    struct Outcome {
        /// The last sequence number that the program was told to be durable.
        var durable: UInt64 = 0
        /// The last one that it was told to be appended.
        var appended: UInt64 = 0
        /// Where a commit ends that was tried.
        var boundaries: Set<UInt64> = [0]
        /// What ended the script early.
        var failure: LogError?
        var isOver = false
    }

    /// Until the end of the script or the first failure. The log is left open where the disk crashed.
    func run(on disk: SimulatedDisk) -> Outcome {
        var outcome = Outcome()
        do throws(LogError) {
            var log = try Sample.open(disk, options).log
            for step in steps { try take(step, &log, disk, &outcome) }
            log.close()
            outcome.isOver = true
        } catch {
            outcome.failure = error
        }
        return outcome
    }

    private func take(
        _ step: Step, _ log: inout OperationLog, _ disk: SimulatedDisk, _ outcome: inout Outcome
    ) throws(LogError) {
        switch step {
        case .append(let count):
            let next = log.nextSequence
            outcome.boundaries.insert(next + UInt64(count) - 1)
            outcome.appended = try log.append(Sample.commit(from: next, count: count)).upperBound
        case .write(let count):
            let next = log.nextSequence
            outcome.boundaries.insert(next + UInt64(count) - 1)
            var commit = Commit()
            for record in Sample.commit(from: next, count: count) {
                try commit.add(kind: record.kind, payload: record.payload)
            }
            outcome.appended = try log.write(commit).upperBound
        case .sync:
            try log.sync()
        case .reopen:
            log.close()
            log = try Sample.open(disk, options).log
        }
        outcome.durable = log.durableSequence
    }

    /// The calls that the script makes when nothing fails: those that change something, and those that only look.
    var calls: (changes: Int, reads: Int) {
        let disk = SimulatedDisk()
        _ = run(on: disk)
        return (disk.calls, disk.reads)
    }

    /// Why the log on the disk is not what the outcome allows; nil where it is. It must open, have every durable record,
    /// whole commits and nothing else, take another commit, read back, and hold to the last byte.
    func objection(to disk: SimulatedDisk, _ outcome: Outcome) -> String? {
        do {
            let (log, recovery) = try Sample.open(disk, options)
            let kept = log.nextSequence - 1
            guard kept >= outcome.durable else { return "\(kept) kept of \(outcome.durable) durable ones: \(recovery)" }
            guard outcome.boundaries.contains(kept) else { return "\(kept) is the end of no commit: \(recovery)" }
            try log.append(Sample.commit(from: kept + 1, count: 2))
            log.close()
            let records = try Sample.read(disk)
            guard records == Sample.expected(1...kept + 2) else { return "other records than were appended" }
            let report = try LogVerification.verify(directory: Sample.directory, fileSystem: disk)
            guard report.isSound, report.tail == nil else { return "\(report)" }
            return nil
        } catch {
            return "\(error)"
        }
    }
}

extension LogScript {
    /// Short, but segments are sealed and begun within it, runs as well, and commits have several records.
    static func short(_ options: OperationLog.Options) -> LogScript {
        var options = options
        options.segmentSize = 350
        options.runSize = 150
        var steps: [Step]
        switch options.durability {
        case .everyCommit, .none:
            steps = [
                .append(1), .append(3), .append(1), .reopen, .append(2), .append(1), .sync, .append(1), .append(4),
                .append(1), .reopen, .append(1),
            ]
        case .grouped, .interval:
            // Closing syncs, and cannot tell that it failed.
            steps = [
                .append(1), .write(3), .append(1), .sync, .reopen, .write(2), .write(1), .sync, .append(1), .write(4),
                .append(1), .sync, .reopen, .write(1), .sync,
            ]
        }
        return LogScript(steps: steps, options: options)
    }

    static func random(_ options: OperationLog.Options, _ generator: inout SeededGenerator) -> LogScript {
        var options = options
        options.compression = Bool.random(using: &generator) ? .zstd(level: 3) : .stored
        options.segmentSize = .random(in: 100...3000, using: &generator)
        options.runSize = .random(in: 1...2000, using: &generator)
        let steps = (0..<Int.random(in: 1...25, using: &generator)).map { _ -> Step in
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: .sync
            case 1: .reopen
            case 2: .write(.random(in: 1...6, using: &generator))
            default: .append(.random(in: 1...6, using: &generator))
            }
        }
        return LogScript(steps: steps, options: options)
    }
}

/// The ways of writing that the proofs go through, by name.
enum LogVariant: String, CaseIterable, Sendable {
    case everyCommit, grouped, interval, none

    var options: OperationLog.Options {
        switch self {
        case .everyCommit: OperationLog.Options(durability: .everyCommit)
        case .grouped: OperationLog.Options(durability: .grouped)
        // So long that the background does not come in between: what a script does is the same each time.
        case .interval: OperationLog.Options(durability: .interval(milliseconds: 3_600_000))
        case .none: OperationLog.Options(durability: .none)
        }
    }
}
