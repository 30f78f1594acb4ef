internal import OperationLog

/// A thousand operations in a commit, which the operating system has when the call returns.
enum BufferedAppends {
    static let operationsPerCommit = 1_000
    private static let commitsPerLap = 50

    static func measure(_ surroundings: BenchEnvironment) async throws -> [Case] {
        surroundings.say("log: buffered appends")
        let laps = surroundings.rounds
        let perLap = operationsPerCommit * commitsPerLap
        let count = (laps + 1) * perLap
        let records = EncodedRecords.orders(count)
        let orders = Array(OrderGenerator().prefix(count))
        let directory = surroundings.directory

        let log = try BenchLog.open(directory.fresh("buffered"), durability: .none)
        defer { log.close() }
        let raw = try RawFile(path: directory.fresh("raw"))
        let sqlite = try SQLiteOrders(path: directory.fresh("buffered.sqlite"), synchronous: .normal)
        let rocks = RocksDB.missing == nil ? try RocksDB(path: directory.fresh("buffered.rocksdb")) : nil
        let zstd = try ZstdStream(level: 3)

        func contender(_ name: String, _ commit: @escaping (Range<Int>) throws -> Void) -> BenchCandidate {
            var next = 0
            return BenchCandidate(name: name, units: perLap) {
                for _ in 0..<commitsPerLap {
                    try commit(next..<next + operationsPerCommit)
                    next += operationsPerCommit
                }
            }
        }
        var commit = Commit()
        var contenders = [
            contender("log") {
                try records.fill(&commit, $0)
                try log.append(commit)
            },
            contender("raw pwrite, uncompressed") { try raw.write(records, $0) },
            contender("libzstd level 3 alone, in memory") { try zstd.compress(records, $0) },
            contender("SQLite WAL, synchronous NORMAL") { try sqlite.write(orders[$0]) },
        ]
        if let rocks {
            contenders.append(contender("RocksDB, zstd WAL") { try rocks.write(records, $0, isSynced: false) })
        }
        let rates = try await InterleavedRun.run(laps: laps, contenders)
        let name = "buffered append, 1,000 operations per commit"
        return [Case(name, rates[0], .operationsPerSecond, target: .atLeast(1_000_000))]
            + contenders.indices.dropFirst().map { index in
                Case(
                    name, rates[0], .operationsPerSecond,
                    against: Case.Baseline(name: contenders[index].name, value: rates[index]),
                    target: index == 4 ? .ratioAtLeast(2) : nil)
            }
    }
}
