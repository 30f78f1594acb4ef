internal import OfflineStore
internal import SyncEngine

/// Downloads in a separate process and returns its memory usage, so that the memory of the benchmark is not included.
enum DownloadMemory {
    /// The limit in MiB, for a million rows: memory must not grow with the store.
    private static let bound = 150.0

    static func cases(rows: Int, in directory: Directory) throws -> [Case] {
        let many = try measure(rows: rows, perPage: DownloadWorkload.perPage, in: directory)
        // As from a service without pages.
        let one = try measure(rows: rows, perPage: rows, in: directory)
        return [
            Case("download of \(rows) rows, peak memory", many.peak, .mebibytes, target: .atMost(bound)),
            Case("the same in one page, peak memory", one.peak, .mebibytes, target: .atMost(bound)),
            Case("open a store of \(rows) rows", many.opening, .milliseconds, target: .atMost(50)),
        ]
    }

    private static func measure(rows: Int, perPage: Int, in directory: Directory) throws -> Result {
        let folder = try directory.fresh("many")
        try DownloadWorkload.write(rows: rows, perPage: perPage, to: folder)
        return try ChildProcess.result([
            Bench.download.name, "--pages", folder, "--directory", directory.fresh("store"),
        ])
    }

    private struct Result: Codable {
        /// The peak memory in MiB.
        let peak: Double
        /// The time to open the store, in milliseconds.
        let opening: Double
    }

    static func run(pages: String, store: String) async throws {
        let files = StoreFiles(directory: store)
        let first = try await DownloadWorkload.store(files)
        let engine = DownloadWorkload.engine(first, pages: pages)
        try await DownloadWorkload.addQueries(engine)
        _ = try await engine.download(["Customers", "Orders"])
        let peak = ChildProcess.peak
        await first.close()
        let start = ContinuousClock.now
        let second = try await DownloadWorkload.store(files)
        let opening = Stopwatch.seconds(since: start) * 1e3
        await second.close()
        try ChildProcess.answer(Result(peak: peak, opening: opening))
    }
}
