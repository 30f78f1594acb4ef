internal import Foundation
internal import OperationLog
internal import Operations
internal import SeededRandom

/// The cost of a written log: its size, and reading it.
enum SealedLog {
    private static let operations = 600_000

    static func measure(_ surroundings: BenchEnvironment) async throws -> [Case] {
        surroundings.say("log: size and reading of \(operations) operations")
        let directory = surroundings.directory
        let records = EncodedRecords.orders(operations)
        let bulk = try directory.fresh("bulk")
        let single = try directory.fresh("single")
        try write(records, to: bulk, operationsPerCommit: BufferedAppends.operationsPerCommit)
        try write(records, to: single, operationsPerCommit: 1)

        let sqlite = try SQLiteOrders(path: directory.fresh("sealed.sqlite"), synchronous: .normal)
        let orders = Array(OrderGenerator().prefix(operations))
        for start in stride(from: 0, to: operations, by: 1_000) { try sqlite.write(orders[start..<start + 1_000]) }
        try sqlite.checkpoint()
        let rocks = RocksDB.missing == nil ? try RocksDB(path: directory.fresh("sealed.rocksdb")) : nil
        if let rocks {
            for start in stride(from: 0, to: operations, by: 1_000) {
                try rocks.write(records, start..<start + 1_000, isSynced: false)
            }
            try rocks.compact()
        }
        let zstd = try ZstdStream(level: 3)
        for start in stride(from: 0, to: operations, by: 1_000) { try zstd.compress(records, start..<start + 1_000) }

        var baselines = [
            Case.Baseline(
                name: "libzstd level 3, one frame, flushed each 1,000", value: Double(zstd.bytes) / Double(operations)),
            Case.Baseline(name: "SQLite file", value: try bytesPerOperation(directory.path + "/sealed.sqlite")),
        ]
        if rocks != nil {
            let tables = directory.path + "/sealed.rocksdb"
            baselines.append(
                Case.Baseline(
                    name: "RocksDB zstd tables", value: try bytesPerOperation(tables) { $0.hasSuffix(".sst") }))
        }
        return try await sizes(bulk: bulk, single: single, baselines)
            + reading(bulk, sqlite: sqlite, rocks: rocks, surroundings)
    }
}

// MARK: Size

extension SealedLog {
    /// Smaller than the default, so that several segments are sealed.
    private static let segmentSize: UInt64 = 4 << 20

    private static func write(_ records: EncodedRecords, to path: String, operationsPerCommit: Int) throws {
        let log = try BenchLog.open(
            path, OperationLog.Options(durability: .none, layout: BenchLog.layout, segmentSize: segmentSize))
        defer { log.close() }
        for start in stride(from: 0, to: records.count, by: operationsPerCommit) {
            try log.append(Array(records.records[start..<min(start + operationsPerCommit, records.count)]))
        }
        // Normally this runs in the background; its result is measured.
        try log.recompressSealedSegments()
    }

    private static func sizes(bulk: String, single: String, _ baselines: [Case.Baseline]) throws -> [Case] {
        try [("1,000 operations per commit", bulk), ("1 operation per commit", single)].flatMap { shape, path in
            let ours = try sealedBytesPerOperation(path)
            return [Case("sealed log, \(shape)", ours, .bytesPerOperation, target: .atMost(25))]
                + baselines.map { Case("sealed log, \(shape)", ours, .bytesPerOperation, against: $0) }
        }
    }

    /// Returns the size of all segments except the last one, which is not sealed yet.
    private static func sealedBytesPerOperation(_ path: String) throws -> Double {
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".segment") }
            .sorted()
        guard names.count > 1, let last = names.last, let end = UInt64(last.prefix(20)) else {
            throw Failure("The log at \(path) has no sealed segment.")
        }
        let bytes = try Directory.bytes(at: path) { $0.hasSuffix(".segment") && $0 != last }
        return Double(bytes) / Double(end - 1)
    }

    private static func bytesPerOperation(
        _ path: String, where isCounted: (String) -> Bool = { _ in true }
    ) throws -> Double {
        Double(try Directory.bytes(at: path, where: isCounted)) / Double(operations)
    }
}

// MARK: Reading

extension SealedLog {
    private static func reading(
        _ path: String, sqlite: SQLiteOrders, rocks: RocksDB?, _ surroundings: BenchEnvironment
    ) async throws -> [Case] {
        let reader = try LogReader(directory: path)
        func contender(_ name: String, _ count: @escaping () throws -> Int) -> BenchCandidate {
            BenchCandidate(name: name, units: operations) {
                let found = try count()
                guard found == operations else { throw Failure("\(name): \(found) of \(operations) were read.") }
            }
        }
        var contenders = [
            contender("records") { try records(reader) },
            contender("decoded") { try decoded(reader) },
            contender("SQLite, all columns of all rows") { try sqlite.scan() },
        ]
        if let rocks { contenders.append(contender("RocksDB iterator, nothing decoded") { rocks.scan() }) }
        let rates = try await InterleavedRun.run(laps: surroundings.rounds, contenders)
        let against = contenders.indices.dropFirst(2).map {
            Case.Baseline(name: contenders[$0].name, value: rates[$0])
        }
        var cases: [Case] = []
        for (name, rate) in [("scan, raw records", rates[0]), ("scan and decode", rates[1])] {
            cases.append(Case(name, rate, .operationsPerSecond, target: .atLeast(2_000_000)))
            cases += against.map { Case(name, rate, .operationsPerSecond, against: $0) }
        }
        return try await cases + places(path, surroundings)
    }

    private static func records(_ reader: LogReader) throws -> Int {
        var count = 0
        let cursor = reader.records()
        while try cursor.next() != nil { count += 1 }
        return count
    }

    private static func decoded(_ reader: LogReader) throws -> Int {
        var count = 0
        let decoder = RecordDecoder()
        let cursor = reader.records()
        while let record = try cursor.next() {
            let decoded = try decoder.decode(kind: record.kind, payload: record.bytes)
            if case .operation(let operation) = decoded.body, case .create = operation.action { count += 1 }
        }
        return count
    }

    /// Measures opening, seeking and verifying.
    private static func places(_ path: String, _ surroundings: BenchEnvironment) async throws -> [Case] {
        var opening: [Double] = []
        var seeking: [Double] = []
        var verifying: [Double] = []
        var random = SeededRandom(seed: 2)
        for _ in 0..<surroundings.rounds {
            opening.append(
                try await Stopwatch.seconds {
                    try BenchLog.open(path, durability: .none).close()
                })
            let reader = try LogReader(directory: path)
            let wanted = (0..<100).map { _ in UInt64(1 + random.below(operations)) }
            seeking.append(
                try await Stopwatch.seconds {
                    for sequence in wanted where try reader.record(sequence)?.sequence != sequence {
                        throw Failure("Record \(sequence) was not found.")
                    }
                } / Double(wanted.count))
            verifying.append(
                try await Stopwatch.seconds {
                    guard try LogVerification.verify(directory: path).damages.isEmpty else {
                        throw Failure("The log is damaged.")
                    }
                })
        }
        return [
            Case("open the log", median(opening) * 1e3, .milliseconds),
            Case("read one record anywhere", median(seeking) * 1e6, .microseconds),
            Case("verify everything", Double(operations) / median(verifying), .operationsPerSecond),
        ]
    }
}
