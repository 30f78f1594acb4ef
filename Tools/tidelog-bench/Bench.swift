/// One of the project's benches. A new one is a file in `Benches` that makes such a value, and its place in ``all``.
struct Bench: Sendable {
    /// As it is asked for on the command line.
    let name: String
    /// For `--help`: what is measured, in one line.
    let summary: String
    /// Measures, and gives the report's rows in the order in which they are to be shown. What takes long says so by
    /// ``Surroundings/say(_:)``.
    let run: @Sendable (Surroundings) async throws -> Report

    static let all: [Bench] = [
        .log, .compression, .scale, .upload, .download, .query, .inspect, .relations, .creates, .memory, .growth,
        .encrypted,
    ]
}

/// What a bench is run in.
struct Surroundings: Sendable {
    /// An empty directory of this bench's own, on the file system that is to be measured. Removed afterwards.
    let directory: Directory
    /// How often each measurement is repeated; the report has the medians.
    let rounds: Int
    /// For the benches that are about a number of operations; nil takes the bench's own.
    let operations: Int?

    /// Shows what is being done, on standard error.
    func say(_ text: String) { Console.error(text) }
}

/// What a bench has found out.
struct Report: Sendable {
    var cases: [Case] = []
    /// What cannot be said in rows: what was left out and why, what the numbers mean. Lines of text.
    var notes: [String] = []
}
