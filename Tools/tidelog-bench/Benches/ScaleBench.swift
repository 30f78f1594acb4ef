internal import ArgumentParser
internal import OperationLog
internal import Operations
internal import SeededRandom

extension Bench {
    static let scale = Bench(
        name: "scale", summary: "10 million operations: time and memory to append, open, seek and verify."
    ) { surroundings in
        let operations = surroundings.operations ?? 10_000_000
        let path = try surroundings.directory.fresh("scale")
        var report = Report()
        for phase in ScalePhase.allCases {
            surroundings.say("scale: \(phase.rawValue), \(operations) operations")
            let result = try phase.runInProcess(log: path, operations: operations)
            report.cases += [
                Case("\(phase.meaning)", result.value, phase.unit),
                Case("\(phase.meaning), peak memory", result.peak, .mebibytes, target: .atMost(ScalePhase.memoryBound)),
            ]
        }
        let bytes = try Directory.bytes(at: path) { $0.hasSuffix(".segment") }
        report.cases.append(
            Case("the log on disk", Double(bytes) / Double(operations), .bytesPerOperation, target: .atMost(25)))
        report.notes.append("\(operations) operations, 1,000 per commit; each phase in its own process.")
        return report
    }
}

/// A phase of ``Bench/scale``. Each runs in a separate process, so that its memory is measured separately.
enum ScalePhase: String, CaseIterable, ExpressibleByArgument, Sendable {
    case append, open, seek, scan, verify

    /// The limit in MiB: for the process itself, zstd's tables, and the state of a segment. Nothing may grow with the
    /// log.
    static let memoryBound = 128.0

    var meaning: String {
        switch self {
        case .append: "append"
        case .open: "open"
        case .seek: "read one record anywhere"
        case .scan: "scan all records"
        case .verify: "verify, fast"
        }
    }

    var unit: Case.Unit {
        switch self {
        case .append, .scan, .verify: .nanosecondsPerOperation
        case .open: .milliseconds
        case .seek: .microseconds
        }
    }

    struct Result: Codable {
        /// The value in the unit of the phase.
        let value: Double
        /// The peak memory in MiB.
        let peak: Double
    }

    // MARK: In the process of the benchmark

    func runInProcess(log: String, operations: Int) throws -> Result {
        try ChildProcess.result([
            Bench.scale.name, "--phase", rawValue, "--directory", log, "--operations", "\(operations)",
        ])
    }

    // MARK: In a separate process

    func run(log: String, operations: Int) throws {
        let value = try measure(log, operations)
        try ChildProcess.answer(Result(value: value, peak: ChildProcess.peak))
    }

    private func measure(_ path: String, _ operations: Int) throws -> Double {
        switch self {
        case .append: return try append(path, operations) * 1e9 / Double(operations)
        case .open:
            let start = ContinuousClock.now
            let log = try BenchLog.open(path, durability: .none)
            let seconds = Stopwatch.seconds(since: start)
            guard log.nextSequence == UInt64(operations) + 1 else { throw Failure("The log lost operations.") }
            log.close()
            return seconds * 1e3
        case .seek:
            let reader = try LogReader(directory: path)
            var random = SeededRandom(seed: 4)
            let count = 1_000
            let start = ContinuousClock.now
            for _ in 0..<count {
                let wanted = UInt64(1 + random.below(operations))
                guard try reader.record(wanted)?.sequence == wanted else { throw Failure("\(wanted) was not found.") }
            }
            return Stopwatch.seconds(since: start) * 1e6 / Double(count)
        case .scan:
            let start = ContinuousClock.now
            let cursor = try LogReader(directory: path).records()
            var count = 0
            while try cursor.next() != nil { count += 1 }
            guard count == operations else { throw Failure("\(count) of \(operations) operations were read.") }
            return Stopwatch.seconds(since: start) * 1e9 / Double(operations)
        case .verify:
            let start = ContinuousClock.now
            guard try LogVerification.verify(directory: path, depth: .fast).damages.isEmpty else {
                throw Failure("The log is damaged.")
            }
            return Stopwatch.seconds(since: start) * 1e9 / Double(operations)
        }
    }

    /// Returns the time in seconds of the appends alone. The operations are created one commit at a time, to save
    /// memory.
    private func append(_ path: String, _ operations: Int) throws -> Double {
        let log = try BenchLog.open(path, OperationLog.Options(durability: .none, layout: BenchLog.layout))
        var orders = OrderGenerator()
        var commit = Commit()
        var seconds = 0.0
        var left = operations
        while left > 0 {
            let records = (0..<min(left, 1_000)).compactMap { _ in orders.next().map { RecordCodec.encode($0.record) } }
            left -= records.count
            let start = ContinuousClock.now
            commit.removeAll()
            for record in records { try commit.add(kind: record.kind, payload: record.payload) }
            try log.append(commit)
            seconds += Stopwatch.seconds(since: start)
        }
        let start = ContinuousClock.now
        try log.sync()
        seconds += Stopwatch.seconds(since: start)
        // Sealed segments are recompressed during the appends; the remaining ones are recompressed here.
        try log.recompressSealedSegments()
        log.close()
        return seconds
    }
}
