internal import ArgumentParser
internal import Foundation

/// The program `tidelog-bench`, which measures Tidelog and baselines in the same run.
@main
struct Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidelog-bench",
        abstract: "Measures this project and baselines in the same run.",
        discussion: """
            Rows are medians of several rounds in which Tidelog and the baselines alternate. A missed target is reported, \
            but does not change the exit code.

            Benchmarks:
            \(Bench.all.map { "  " + $0.name.padding(toLength: 13, withPad: " ", startingAt: 0) + $0.summary }
                .joined(separator: "\n"))
            """)

    @Argument(help: ArgumentHelp("The benchmarks to run.", valueName: "name"))
    var names: [String]

    @Flag(help: "Print one JSON object per row to standard output, and nothing else.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "A directory on the disk to measure. Without it, the temporary folder of the system.",
            valueName: "directory"))
    var directory: String?

    @Option(help: ArgumentHelp("The number of repetitions of each measurement.", valueName: "number"))
    var rounds = 5

    @Option(
        help: ArgumentHelp(
            "The number of operations; of rows for download and memory; the largest size for growth.",
            valueName: "number"))
    var operations: Int?

    /// A phase of the benchmark `scale`, each of which runs in a separate process.
    @Option(help: .hidden)
    var phase: ScalePhase?

    /// A phase of the benchmark `encrypted`, each of which runs in a separate process.
    @Option(help: .hidden)
    var encryptedPhase: EncryptedPhase?

    /// The views for which a part of the benchmark `upload` plans a batch, in a separate process.
    @Option(help: .hidden)
    var views: String?

    /// The pages that a part of the benchmark `download` ingests, in a separate process.
    @Option(help: .hidden)
    var pages: String?

    /// The pages that a part of the benchmark `download` serves, in a separate process.
    @Option(help: .hidden)
    var serve: String?

    /// The number of operations that a part of the benchmark `memory` creates, in a separate process; 0 to open them.
    @Option(help: .hidden)
    var pending: Int?

    func validate() throws {
        let known = Bench.all.map(\.name).joined(separator: ", ")
        guard !names.isEmpty else { throw ValidationError("Name the benchmarks to run: \(known).") }
        for name in names where !Bench.all.contains(where: { $0.name == name }) {
            throw ValidationError("There is no benchmark \(name). The benchmarks are: \(known).")
        }
        if let operations, operations < 1 { throw ValidationError("There must be at least one operation.") }
        guard rounds > 0 else { throw ValidationError("There must be at least one round.") }
    }

    func run() async throws {
        if let phase { return try phase.run(log: directory ?? ".", operations: operations ?? 1) }
        if let encryptedPhase {
            return try await encryptedPhase.run(store: directory ?? ".", entities: operations ?? 100_000)
        }
        if let views { return try UploadMemory.run(views: views, limit: operations ?? 500) }
        if let serve { return try PageServer.run(pages: serve) }
        if let pending { return try await PendingMemory.run(operations: pending, store: directory ?? ".") }
        if let pages { return try await DownloadMemory.run(pages: pages, store: directory ?? ".") }
        for bench in Bench.all where names.contains(bench.name) {
            let place = try Directory.make(below: directory ?? FileManager.default.temporaryDirectory.path)
            defer { place.remove() }
            var report = try await bench.run(BenchEnvironment(directory: place, rounds: rounds, operations: operations))
            report.notes.append(place.remark)
            let lines =
                json
                ? try ReportText.json(report, bench: bench.name)
                : ["# \(bench.name)", ""] + ReportText.lines(report) + [""]
            lines.forEach(Console.line)
            if json { report.notes.forEach(Console.error) }
        }
    }
}
