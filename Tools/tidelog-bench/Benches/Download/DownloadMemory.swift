internal import CBench
internal import Foundation
internal import SyncEngine

/// Downloads in a process of its own and tells how much memory that took, so that no pages of the bench hide in it.
enum DownloadMemory {
    /// In MiB, for a million rows: of what is there at once, nothing grows with the store.
    private static let bound = 150.0

    static func cases(rows: Int, in directory: Directory) throws -> [Case] {
        let folder = try directory.fresh("many")
        try DownloadWorkload.write(rows: rows, perPage: DownloadWorkload.perPage, to: folder)
        let result = try runInProcess(pages: folder, store: directory.fresh("store"))
        return [
            Case(
                "download of \(rows) rows, peak memory", result.peak, .mebibytes, target: .atMost(bound)),
            Case("open a store of \(rows) rows", result.opening, .milliseconds, target: .atMost(50)),
        ]
    }

    private struct Result: Codable {
        /// In MiB.
        let peak: Double
        /// In milliseconds.
        let opening: Double
    }

    private static func runInProcess(pages: String, store: String) throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = [Bench.download.name, "--pages", pages, "--directory", store]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let answer = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure("The download's process ended with status \(process.terminationStatus).")
        }
        return try JSONDecoder().decode(Result.self, from: answer)
    }

    static func run(pages: String, store: String) async throws {
        let files = StoreFiles(directory: store)
        let first = try await DownloadWorkload.store(files)
        let engine = DownloadWorkload.engine(first, pages: pages)
        try await DownloadWorkload.addQueries(engine)
        _ = try await engine.download(["Customers", "Orders"])
        let peak = Double(bench_peak_resident_bytes()) / 1_048_576
        await first.close()
        let start = ContinuousClock.now
        let second = try await DownloadWorkload.store(files)
        let opening = Stopwatch.seconds(since: start) * 1e3
        await second.close()
        Console.line(
            String(decoding: try JSONEncoder().encode(Result(peak: peak, opening: opening)), as: UTF8.self))
    }
}
