import DiskSimulation
import OperationLog
import SeededRandom
import Testing

/// Crashes at every call of a script that includes snapshots and compactions.
@Suite struct CompactionCrashTests {
    private static let options = OperationLog.Options(segmentSize: 300, runSize: 150)

    private enum Step {
        case append(Int)
        case snapshot
        /// Compacts the log and keeps at least this many of the last records.
        case compact(keeping: UInt64)
    }

    private static let script: [Step] = [
        .append(1), .append(3), .append(2), .append(1), .append(4), .snapshot, .append(1), .compact(keeping: 5),
        .append(2), .append(3), .snapshot, .append(1), .append(2), .snapshot, .compact(keeping: 0), .append(1),
        .compact(keeping: 8), .append(3),
    ]

    struct Outcome {
        var acknowledged: UInt64 = 0
        var boundaries: Set<UInt64> = [0]
        /// The first record that every compaction begun so far must keep.
        var keptFrom: UInt64 = 1
        /// The sequence number of the last snapshot whose call returned.
        var snapshot: UInt64?
    }

    private func run(_ disk: SimulatedDisk) -> Outcome {
        var outcome = Outcome()
        guard let log = try? Sample.open(disk, Self.options).log else { return outcome }
        do {
            for step in Self.script {
                switch step {
                case .append(let count):
                    let first = log.nextSequence
                    outcome.boundaries.insert(first + UInt64(count) - 1)
                    try log.append(Sample.commit(from: first, count: count))
                    outcome.acknowledged = log.durableSequence
                case .snapshot:
                    outcome.snapshot = try SampleSnapshot.write(log).sequence
                case .compact(let kept):
                    let first = log.nextSequence - min(kept, log.nextSequence - 1)
                    outcome.keptFrom = max(outcome.keptFrom, first)
                    try log.compact(keepingFrom: first)
                }
            }
        } catch {}
        return outcome
    }

    /// Returns a description of the first violated requirement after a crash, or nil.
    private func fault(in disk: SimulatedDisk, _ outcome: Outcome) throws -> String? {
        let (log, recovery) = try Sample.open(disk, Self.options)
        defer { log.close() }
        let kept = recovery.nextSequence - 1
        guard kept >= outcome.acknowledged, outcome.boundaries.contains(kept) else { return "kept \(kept)" }
        guard recovery.snapshotDamages.isEmpty else { return "\(recovery.snapshotDamages)" }
        guard !disk.paths.contains(where: { $0.hasSuffix(".new") }) else { return "\(disk.paths)" }
        let reader = try LogReader(directory: Sample.directory, fileSystem: disk)
        let first = try reader.firstSequence()
        let snapshots = try reader.snapshots()
        for snapshot in snapshots
        where try SampleSnapshot.read(reader, snapshot) != SampleSnapshot.items(snapshot.sequence) {
            return "another snapshot \(snapshot.sequence)"
        }
        let newest = snapshots.last?.sequence
        guard first <= min(outcome.keptFrom, newest ?? 1) else { return "begins with \(first)" }
        if let made = outcome.snapshot, newest.map({ $0 < made }) ?? true { return "the snapshot \(made) is gone" }

        try log.append(Sample.commit(from: kept + 1, count: 2))
        let records = try Sample.records(reader.records())
        guard records == Sample.expected(first...kept + 2) else { return "records \(records.map(\.sequence))" }
        // The next compaction completes a compaction that the crash interrupted.
        try log.compact(keepingFrom: outcome.keptFrom)
        let segments = try reader.segmentList()
        if segments.count > 1, segments[1].firstSequence <= min(outcome.keptFrom, newest ?? 1) {
            return "not compacted: \(segments.map(\.firstSequence))"
        }
        let report = try LogVerification.verify(directory: Sample.directory, fileSystem: disk)
        return report.isSound && report.tail == nil ? nil : "\(report)"
    }

    private func check(_ disk: SimulatedDisk, _ outcome: Outcome, _ context: @autoclosure () -> String) {
        do {
            if let fault = try fault(in: disk, outcome) {
                Issue.record("\(context()): \(fault); \(outcome)")
            }
        } catch {
            Issue.record("\(context()): \(error); \(outcome)")
        }
    }

    @Test func `after a crash at any call the log opens, and a snapshot covers the removed records`() throws {
        let whole = SimulatedDisk()
        let complete = run(whole)
        #expect(complete.acknowledged == 24 && complete.keptFrom == 21 && complete.snapshot == 21)
        check(whole.copy(), complete, "no crash")
        let seed = UInt64.testSeed()
        var generator = SeededRandom(seed: seed)
        var images = 0
        for call in 0..<whole.calls {
            let disk = SimulatedDisk()
            disk.fail(atCall: call, .crash)
            let outcome = run(disk)
            check(disk.withoutUnsynced(), outcome, "call \(call), nothing unsynced")
            check(disk.copy(), outcome, "call \(call), everything")
            disk.forEachImage(limit: 12, &generator) { image in
                check(image, outcome, "call \(call), seed \(seed)")
                images += 1
            }
            images += 2
        }
        print("crash points: \(whole.calls), crash images: \(images)")
    }

    @Test func `a crash during the recovery from a crash loses nothing`() throws {
        let whole = SimulatedDisk()
        _ = run(whole)
        var runs = 0
        for call in stride(from: 0, to: whole.calls, by: 3) {
            let disk = SimulatedDisk()
            disk.fail(atCall: call, .crash)
            let outcome = run(disk)
            for second in 0..<5 {
                let again = disk.copy()
                again.fail(atCall: second, .crash)
                if let log = try? Sample.open(again, Self.options).log {
                    _ = try? log.compact(keepingFrom: outcome.keptFrom)
                }
                check(again.withoutUnsynced(), outcome, "calls \(call) and \(second)")
                runs += 1
            }
        }
        print("crashes in a row: \(runs)")
    }

    @Test func `after any failed call nothing is lost, and the next compaction completes the work`() throws {
        let whole = SimulatedDisk()
        _ = run(whole)
        for call in 0..<whole.calls {
            for fault in [SimulatedDisk.Fault.refuse, .full] {
                let disk = SimulatedDisk()
                disk.fail(atCall: call, fault)
                let outcome = run(disk)
                check(disk.copy(), outcome, "call \(call), \(fault)")
                check(disk.withoutUnsynced(), outcome, "call \(call), \(fault), nothing unsynced")
            }
        }
        print("refused calls: \(whole.calls * 2)")
    }
}
