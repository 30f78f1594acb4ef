internal import CBench
internal import OperationLog

/// How often the log asks for memory while it appends, once it is warm: every malloc, calloc, realloc and memalign of the
/// process is counted, Swift's runtime and libzstd included.
enum Allocations {
    /// None per operation, nor per commit. What remains is the index of the segment's runs, which doubles now and then.
    private static let target = 0.001

    static var missing: String? {
        bench_counts_allocations() == 0 ? "Allocations are counted on Linux with glibc only." : nil
    }

    static func measure(_ surroundings: Surroundings) async throws -> [Case] {
        guard missing == nil else { return [] }
        surroundings.say("log: allocations")
        let path = try surroundings.directory.fresh("allocations")
        // One segment: a new segment is not the steady state.
        let log = try BenchLog.open(path, OperationLog.Options(durability: .none, segmentSize: .max))
        defer { log.close() }
        return [
            try count("allocations, 1,000 operations a commit", log, operations: 1_000, commits: 100),
            try count("allocations, 1 operation a commit", log, operations: 1, commits: 10_000),
        ]
    }

    private static func count(_ name: String, _ log: OperationLog, operations: Int, commits: Int) throws -> Case {
        let records = EncodedRecords.orders(operations)
        var commit = Commit()
        func append() throws {
            for _ in 0..<commits {
                try records.fill(&commit, 0..<operations)
                try log.append(commit)
            }
        }
        // Buffers grow to their size, and zstd's tables are made.
        try append()
        bench_start_counting()
        try append()
        let allocations = bench_stop_counting()
        return Case(
            name, Double(allocations) / Double(operations * commits), .allocationsPerOperation, target: .atMost(target))
    }
}
