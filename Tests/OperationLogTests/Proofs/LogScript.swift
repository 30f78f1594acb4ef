import DiskSimulation
import SeededRandom
@testable import OperationLog

/// A script of operations on a log, and the guarantees that hold if the disk stops it at any point.
struct LogScript: Sendable {
    enum Step: Sendable {
        /// Appends one commit with this number of records.
        case append(Int)
        /// Writes one commit with this number of records and does not wait until it is durable.
        case write(Int)
        case sync
        /// Closes the log and opens it again.
        case reopen
        /// Recompresses the sealed segments.
        case repack
        case snapshot
        /// Compacts the log and keeps at least this many of the last records.
        case compact(keeping: UInt64)
    }

    var steps: [Step]
    var options: OperationLog.Options

    struct Outcome {
        /// The last sequence number that was reported as durable.
        var durable: UInt64 = 0
        /// The last sequence number that was reported as appended.
        var appended: UInt64 = 0
        /// The last sequence numbers of all attempted commits.
        var boundaries: Set<UInt64> = [0]
        /// The first record that every compaction must keep.
        var keptFrom: UInt64 = 1
        /// The error that ended the script early.
        var failure: LogError?
        var isOver = false
    }

    /// Runs the script to its end or to the first failure. After a failure, the log is left open.
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
        case .repack:
            // The blocks are so small that recompression reduces the size even of a short log.
            _ = try log.recompressSealedSegments(blockSize: 256)
        case .snapshot:
            do {
                try SampleSnapshot.write(log)
            } catch let error as LogError {
                throw error
            } catch {
                preconditionFailure("items of a snapshot are only written: \(error)")
            }
        case .compact(let kept):
            let first = log.nextSequence - min(kept, log.nextSequence - 1)
            outcome.keptFrom = max(outcome.keptFrom, first)
            try log.compact(keepingFrom: first)
        }
        outcome.durable = log.durableSequence
    }

    /// The numbers of calls to the disk that the script makes if none fails: calls that change it, and calls that only
    /// read.
    var calls: (changes: Int, reads: Int) {
        let disk = SimulatedDisk()
        _ = run(on: disk)
        return (disk.calls, disk.reads)
    }

    /// Opens the log of an interrupted run as another process does, and appends a commit. Returns the outcome, with the
    /// last durable record.
    func goOn(on disk: SimulatedDisk, _ outcome: Outcome) throws(LogError) -> Outcome {
        var outcome = outcome
        let log = try Sample.open(disk, options).log
        let first = log.nextSequence
        // Fewer records may be present than were appended. New records reuse the numbers of the missing ones.
        outcome.boundaries = outcome.boundaries.filter { $0 < first }
        outcome.appended = try log.append(Sample.commit(from: first, count: 2)).upperBound
        outcome.boundaries.insert(outcome.appended)
        try log.sync()
        outcome.durable = log.durableSequence
        return outcome
    }

    /// Returns the reason why the log on the disk contradicts the outcome, or nil.
    ///
    /// The log must open, contain every durable record and only whole commits, accept another commit, be readable, and
    /// pass verification completely.
    func objection(to disk: SimulatedDisk, _ outcome: Outcome) -> String? {
        do {
            let (log, recovery) = try Sample.open(disk, options)
            let kept = log.nextSequence - 1
            guard kept >= outcome.durable else { return "\(kept) kept of \(outcome.durable) durable ones: \(recovery)" }
            guard outcome.boundaries.contains(kept) else { return "\(kept) is the end of no commit: \(recovery)" }
            try log.append(Sample.commit(from: kept + 1, count: 2))
            log.close()
            let reader = try LogReader(directory: Sample.directory, keys: options.keys, fileSystem: disk)
            let first = try reader.firstSequence()
            guard first <= outcome.keptFrom else {
                return "\(first) is the first of the log, \(outcome.keptFrom) was kept"
            }
            if first > 1 {
                guard let snapshot = try reader.snapshots().last, snapshot.sequence >= first,
                    try SampleSnapshot.read(reader, snapshot) == SampleSnapshot.items(snapshot.sequence)
                else { return "no snapshot contains the state before \(first)" }
            }
            let records = try Sample.read(disk, from: first, keys: options.keys)
            guard records == Sample.expected(first...kept + 2) else { return "other records than were appended" }
            let report = try LogVerification.verify(
                directory: Sample.directory, keys: options.keys, fileSystem: disk)
            guard report.isSound, report.tail == nil else { return "\(report)" }
            return nil
        } catch {
            return "\(error)"
        }
    }
}

extension LogScript {
    /// Returns a short script in which segments are sealed and started, runs begin, and commits have several records.
    static func short(_ options: OperationLog.Options) -> LogScript {
        var options = options
        options.segmentSize = 350
        options.runSize = 150
        var steps: [Step]
        switch options.durability {
        case .everyCommit, .none:
            steps = [
                .append(1), .append(3), .append(1), .reopen, .append(2), .append(1), .sync, .append(1), .append(4),
                .append(1), .repack, .append(1), .reopen, .repack, .append(1),
            ]
        case .grouped, .interval:
            steps = [
                .append(1), .write(3), .append(1), .sync, .reopen, .write(2), .write(1), .sync, .append(1), .write(4),
                .append(1), .write(1), .reopen, .write(1), .sync,
            ]
        }
        return LogScript(steps: steps, options: options)
    }

    /// Returns the short script with snapshots and compactions.
    static func compacting(_ options: OperationLog.Options) -> LogScript {
        var script = short(options)
        script.steps.insert(contentsOf: [.snapshot, .append(1), .compact(keeping: 3)], at: script.steps.count - 3)
        script.steps += [.snapshot, .snapshot, .compact(keeping: 0), .append(2)]
        return script
    }

    static func random(_ options: OperationLog.Options, _ generator: inout SeededRandom) -> LogScript {
        var options = options
        options.compression = Bool.random(using: &generator) ? .zstd(level: 3) : .stored
        options.segmentSize = .random(in: 100...3000, using: &generator)
        options.runSize = .random(in: 1...2000, using: &generator)
        let steps = (0..<Int.random(in: 1...25, using: &generator)).map { _ -> Step in
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: .sync
            case 1: .reopen
            case 2: .repack
            case 3: .snapshot
            case 4: .compact(keeping: .random(in: 0...20, using: &generator))
            case 5: .write(.random(in: 1...6, using: &generator))
            default: .append(.random(in: 1...6, using: &generator))
            }
        }
        return LogScript(steps: steps, options: options)
    }
}

/// The variants of writing a log that the proofs cover, by name.
enum LogVariant: String, CaseIterable, Sendable {
    case everyCommit, grouped, interval, none, repacked, encrypted, compacted

    var options: OperationLog.Options {
        var options = OperationLog.Options(sealing: .asWritten)
        switch self {
        case .everyCommit, .compacted: break
        case .grouped: options.durability = .grouped
        // The interval never elapses, so only `sync` and `close` sync and each run makes the same calls.
        case .interval: options.durability = .interval(milliseconds: 1_000_000)
        case .none: options.durability = .none
        case .repacked: options.sealing = .repacked(level: 5)
        case .encrypted:
            options.sealing = .repacked(level: 5)
            options.keys = [Sample.key]
        }
        return options
    }

    var script: LogScript { self == .compacted ? .compacting(options) : .short(options) }
}
