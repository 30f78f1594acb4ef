import DiskSimulation
import OperationLog
import SeededRandom
import Testing

/// Crashes at every call of a short log, with every image that the last write can leave.
@Suite struct CrashTests {
    private static let commits = [1, 3, 1, 2, 1, 1, 4, 1, 1]
    /// The segments are so small that the script seals and starts several.
    private static let options = OperationLog.Options(segmentSize: 350, runSize: 150)

    struct Outcome {
        /// The last sequence number that was reported as durable.
        var acknowledged: UInt64 = 0
        /// The last sequence numbers of all attempted commits.
        var boundaries: Set<UInt64> = [0]
    }

    /// Opens the log and appends until the end of the script or the first failure.
    private func run(_ disk: SimulatedDisk, _ options: OperationLog.Options) -> Outcome {
        var outcome = Outcome()
        guard let log = try? Sample.open(disk, options).log else { return outcome }
        var next: UInt64 = 1
        for count in Self.commits {
            outcome.boundaries.insert(next + UInt64(count) - 1)
            guard (try? log.append(Sample.commit(from: next, count: count))) != nil else { break }
            next += UInt64(count)
            outcome.acknowledged = log.durableSequence
        }
        return outcome
    }

    /// Checks a log after a crash: it opens, contains every acknowledged record and only whole commits, accepts new
    /// commits, and is readable.
    private func check(
        _ disk: SimulatedDisk, _ outcome: Outcome, _ context: @autoclosure () -> String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let log: OperationLog
        do {
            log = try Sample.open(disk, Self.options).log
        } catch {
            Issue.record("\(context()): \(error)", sourceLocation: sourceLocation)
            return
        }
        let kept = log.nextSequence - 1
        try log.append(Sample.commit(from: kept + 1, count: 2))
        log.close()
        let records = try Sample.read(disk)
        let report = try LogVerification.verify(directory: Sample.directory, fileSystem: disk)
        let holds =
            kept >= outcome.acknowledged && outcome.boundaries.contains(kept)
            && records == Sample.expected(1...kept + 2) && report.isSound && report.tail == nil
        if !holds {
            Issue.record("\(context()): kept \(kept), \(outcome), \(report)", sourceLocation: sourceLocation)
        }
    }

    private func calls(_ options: OperationLog.Options) -> Int {
        let disk = SimulatedDisk()
        _ = run(disk, options)
        return disk.calls
    }

    @Test func `after a crash at any call and byte, the log keeps all acknowledged records and only whole commits`()
        throws
    {
        var images = 0
        let total = calls(Self.options)
        for call in 0..<total {
            let disk = SimulatedDisk()
            disk.fail(atCall: call, .crash)
            let outcome = run(disk, Self.options)
            try check(disk.withoutUnsynced(), outcome, "call \(call), nothing unsynced")
            let bytes = disk.lastUnsyncedWrite ?? 0
            for kept in 0...bytes {
                try check(disk.tearing(lastWriteTo: kept), outcome, "call \(call), torn at \(kept) of \(bytes)")
            }
            images += bytes + 2
        }
        print("crash points: \(total), crash images: \(images)")
        #expect(total > 30)
    }

    @Test func `the log recovers from a crash during recovery`() throws {
        let total = calls(Self.options)
        var runs = 0
        for call in 0..<total {
            let disk = SimulatedDisk()
            disk.fail(atCall: call, .crash)
            let outcome = run(disk, Self.options)
            let torn = disk.tearing(lastWriteTo: (disk.lastUnsyncedWrite ?? 0) / 2)
            for second in 0..<6 {
                let again = torn.copy()
                again.fail(atCall: second, .crash)
                _ = try? Sample.open(again, Self.options)
                try check(again.withoutUnsynced(), outcome, "calls \(call) and \(second), nothing unsynced")
                try check(again.tearing(lastWriteTo: .max), outcome, "calls \(call) and \(second), all")
                runs += 1
            }
        }
        print("crashes during recovery: \(runs)")
    }

    @Test func `random crash images of logs with and without durability contain a prefix of the commits`() throws {
        let seed = UInt64.testSeed()
        var generator = SeededRandom(seed: seed)
        for round in 0..<300 {
            var options = Self.options
            options.durability = Bool.random(using: &generator) ? .everyCommit : .none
            options.compression = Bool.random(using: &generator) ? .zstd(level: 3) : .stored
            options.segmentSize = UInt64.random(in: 100...2000, using: &generator)
            let disk = SimulatedDisk()
            disk.fail(atCall: Int.random(in: 0..<calls(options), using: &generator), .crash)
            let outcome = run(disk, options)
            try check(disk.random(&generator), outcome, "seed \(seed), round \(round)")
        }
    }
}

@Suite struct FailureTests {
    /// Runs the script with one refused call. The acknowledged records must be present after reopening.
    @Test func `after a failure of any call, the log closes permanently and keeps all acknowledged records`() throws {
        let options = OperationLog.Options(segmentSize: 350, runSize: 150)
        let script = [1, 3, 1, 2, 1, 1, 4, 1, 1]
        let whole = SimulatedDisk()
        try Sample.write(whole, commits: script, options)
        var closings = 0
        for call in 0..<whole.calls {
            let disk = SimulatedDisk()
            disk.fail(atCall: call, .refuse)
            var acknowledged: UInt64 = 0
            if let log = try? Sample.open(disk, options).log {
                for count in script {
                    do {
                        acknowledged = try log.append(Sample.commit(from: log.nextSequence, count: count)).upperBound
                    } catch {
                        guard case .writeFailed(let cause) = error else { throw error }
                        #expect(throws: LogError.closed(cause: cause)) {
                            try log.append(Sample.commit(from: 1, count: 1))
                        }
                        #expect(throws: LogError.closed(cause: cause)) { try log.sync() }
                        closings += 1
                        break
                    }
                }
            }
            for image in [disk.copy(), disk.withoutUnsynced()] {
                let (log, _) = try Sample.open(image, options)
                let kept = log.nextSequence - 1
                #expect(kept == acknowledged, "call \(call)")
                try log.append(Sample.commit(from: kept + 1, count: 1))
                #expect(try Sample.read(image) == Sample.expected(1...kept + 1), "call \(call)")
            }
        }
        print("refused calls: \(whole.calls), of which \(closings) closed an open log")
        #expect(closings > 20)
    }

    @Test func `after a failed sync the same descriptor is never synced again`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        try log.append(Sample.commit(from: 1, count: 1))
        disk.fail(atCall: disk.calls + 1, .refuse)
        #expect(throws: LogError.self) { try log.append(Sample.commit(from: 2, count: 1)) }
        let syncs = disk.syncs
        #expect(throws: LogError.self) { try log.append(Sample.commit(from: 2, count: 1)) }
        #expect(throws: LogError.self) { try log.sync() }
        #expect(disk.syncs == syncs)
    }

    @Test func `the message of a closed log names the call, the file and the remedy`() throws {
        let failure = FileSystemError(call: "fdatasync", path: "/store/log/1", errorNumber: 28, message: "No space")
        #expect(
            LogError.closed(cause: failure).description
                == "The log was closed when fdatasync of /store/log/1 failed: No space (error 28). "
                + "Open the store again to continue.")
    }
}
