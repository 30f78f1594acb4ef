internal import CBench
internal import OperationLog

/// The number of allocations of the log while it appends, after a warm-up: every malloc, calloc, realloc and memalign
/// of the process is counted, including those of Swift's runtime and libzstd.
enum Allocations {
    /// No allocation for an operation or a commit. The exception is the index of the segment's runs, which doubles
    /// occasionally.
    private static let target = 0.001

    static var missing: String? {
        bench_counts_allocations() == 0 ? "Allocations are counted on Linux with glibc only." : nil
    }

    static func measure(_ surroundings: BenchEnvironment) async throws -> [Case] {
        guard missing == nil else { return [] }
        surroundings.say("log: allocations")
        let path = try surroundings.directory.fresh("allocations")
        // A single segment, because the creation of a segment is not the steady state.
        let log = try BenchLog.open(path, OperationLog.Options(durability: .none, segmentSize: .max))
        defer { log.close() }
        return [
            try count("allocations, 1,000 operations per commit", log, operations: 1_000, commits: 100),
            try count("allocations, 1 operation per commit", log, operations: 1, commits: 10_000),
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
        // Buffers grow to their final size, and the tables of zstd are created.
        try append()
        bench_start_counting()
        try append()
        let allocations = bench_stop_counting()
        return Case(
            name, Double(allocations) / Double(operations * commits), .allocationsPerOperation, target: .atMost(target))
    }
}
