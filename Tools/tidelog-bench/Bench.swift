/// A benchmark. A new one is a file in `Benches` that creates such a value, and an element of ``all``.
struct Bench: Sendable {
    /// The name on the command line.
    let name: String
    /// The measurement in one line, for `--help`.
    let summary: String
    /// Measures, and returns the rows of the report in the order of output. Long steps are announced with
    /// ``BenchEnvironment/say(_:)``.
    let run: @Sendable (BenchEnvironment) async throws -> Report

    static let all: [Bench] = [
        .log, .compression, .scale, .upload, .download, .query, .inspect, .relations, .creates, .memory, .growth,
        .encrypted,
    ]
}

/// The environment of a benchmark.
struct BenchEnvironment: Sendable {
    /// An empty directory for this benchmark, on the file system to measure. Removed afterwards.
    let directory: Directory
    /// The number of repetitions of each measurement; the report contains the medians.
    let rounds: Int
    /// The number of operations, for benchmarks that use it; nil for the benchmark's default.
    let operations: Int?

    /// Prints the current step on standard error.
    func say(_ text: String) { Console.error(text) }
}

/// The result of a benchmark.
struct Report: Sendable {
    var cases: [Case] = []
    /// Additional lines of text: omitted measurements with the reason, and the meaning of numbers.
    var notes: [String] = []
}
