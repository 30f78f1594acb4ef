internal import Foundation
internal import OperationLog

/// One operation in a commit, durable when the call returns.
enum DurableCommits {
    /// A small number, so that the candidates alternate often, because the speed of a disk varies from moment to
    /// moment.
    private static let commitsPerLap = 8

    static func measure(_ surroundings: BenchEnvironment) async throws -> [Case] {
        surroundings.say("log: durable commits")
        let laps = surroundings.rounds * 50
        let count = (laps + 1) * commitsPerLap
        let records = EncodedRecords.orders(count)
        let orders = Array(OrderGenerator().prefix(count))
        let directory = surroundings.directory

        let log = try BenchLog.open(directory.fresh("durable"), durability: .everyCommit)
        defer { log.close() }
        let written = try WrittenBytes(records, at: directory.fresh("bytes"))
        let raw = try RawFile(path: directory.fresh("raw"))
        let sqlite = try SQLiteOrders(path: directory.fresh("durable.sqlite"), synchronous: .full)
        let rocks = RocksDB.missing == nil ? try RocksDB(path: directory.fresh("durable.rocksdb")) : nil

        func contender(_ name: String, _ commit: @escaping (Int) throws -> Void) -> BenchCandidate {
            var next = 0
            return BenchCandidate(name: name, units: commitsPerLap) {
                for _ in 0..<commitsPerLap {
                    try commit(next)
                    next += 1
                }
            }
        }
        var commit = Commit()
        var contenders = [
            contender("log") {
                try records.fill(&commit, $0..<$0 + 1)
                try log.append(commit)
            },
            contender("raw pwrite + fdatasync") { try written.write($0, to: raw) },
            contender("SQLite WAL, synchronous FULL") { try sqlite.write(orders[$0...$0]) },
        ]
        if let rocks {
            contenders.append(
                contender("RocksDB, sync, zstd WAL") { try rocks.write(records, $0..<$0 + 1, isSynced: true) })
        }
        let grouped = try BenchLog.open(directory.fresh("grouped"), durability: .grouped)
        defer { grouped.close() }
        contenders.append(committers(grouped, records))

        let rates = try await InterleavedRun.run(laps: laps, contenders)
        let last = contenders.count - 1
        let single = Case.Baseline(name: "one committer, each commit synced", value: rates[0])
        return contenders.indices.dropFirst().dropLast().map { index in
            let target: Case.Target? = index == 1 ? .ratioAtLeast(0.9) : index == 3 ? .ratioAtLeast(1) : nil
            return Case(
                "single-operation durable commit", rates[0], .commitsPerSecond,
                against: Case.Baseline(name: contenders[index].name, value: rates[index]), target: target)
        } + [
            Case(
                contenders[last].name, rates[last], .commitsPerSecond, against: single, target: .ratioAtLeast(4))
        ]
    }

    /// Several tasks that each append one commit after the other, and wait until each is durable.
    private static func committers(_ log: OperationLog, _ records: EncodedRecords) -> BenchCandidate {
        let count = 8
        return BenchCandidate(name: "\(count) concurrent committers, grouped", units: count * commitsPerLap) {
            try await withThrowingTaskGroup { group in
                for committer in 0..<count {
                    let own = Array(records.records[committer * commitsPerLap..<(committer + 1) * commitsPerLap])
                    group.addTask {
                        var commit = Commit()
                        for record in own {
                            commit.removeAll()
                            try commit.add(kind: record.kind, payload: record.payload)
                            _ = try await log.appendAndWait(commit)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}

/// The bytes that the log writes for each of some commits, for the baseline that writes the same bytes.
private struct WrittenBytes {
    private var bytes: [UInt8] = []
    private var lengths: [UInt32] = []
    private var starts: [Int] = []

    init(_ records: EncodedRecords, at path: String) throws {
        let log = try BenchLog.open(path, OperationLog.Options(durability: .none, segmentSize: .max))
        defer { log.close() }
        let segment = path + "/00000000000000000001.segment"
        var size = try Directory.bytes(at: segment)
        for record in records.records {
            try log.append([record])
            let now = try Directory.bytes(at: segment)
            starts.append(Int(size))
            lengths.append(UInt32(now - size))
            size = now
        }
        bytes = [UInt8](try Data(contentsOf: URL(filePath: segment)))
    }

    func write(_ commit: Int, to file: RawFile) throws {
        try bytes.withUnsafeBufferPointer { bytes in
            try lengths.withUnsafeBufferPointer { lengths in
                guard let bytes = bytes.baseAddress, let lengths = lengths.baseAddress else { return }
                try file.write(bytes + starts[commit], lengths: lengths + commit, count: 1, isSynced: true)
            }
        }
    }
}
