internal import OfflineStore
internal import OperationLog
internal import SyncEngine

/// The work of the downloads without the engine: neither parsing nor rules.
struct RecordedDownload {
    static let readingName = "the rows alone, read by key"

    private let rows: Int
    private let download: StoredWork
    private let changed: StoredWork
    private let reads: StoredReads
    private let keys: [StoredReads.Read]

    init(rows: Int, pages folder: String, in directory: Directory) async throws {
        self.rows = rows
        let files = StoreFiles(directory: try directory.fresh("recorded"))
        func work(_ names: [String], isFirst: Bool = false) async throws -> StoredWork.Start {
            let store = try await DownloadWorkload.store(files)
            let engine = DownloadWorkload.engine(store, pages: folder)
            if isFirst { try await DownloadWorkload.addQueries(engine) }
            _ = try await engine.download(names)
            await store.close()
            return try StoredWork.Start(files, in: directory)
        }
        let start = try await work(["Customers"], isFirst: true)
        let downloaded = try await work(["Orders"])
        download = try StoredWork(from: start, to: files, in: directory)
        reads = try StoredReads(files.views, in: directory)
        _ = try await work(["Changed"])
        changed = try StoredWork(from: downloaded, to: files, in: directory)
        keys = StoredReads.Read.rows(of: "set_Orders", by: "OrderID", 1...rows)
    }

    /// Returns the rates by name, in rows per second.
    func measure() throws -> [(name: String, rate: Double)] {
        func rate(_ units: Int, _ body: () throws -> Void) rethrows -> Double {
            let start = ContinuousClock.now
            try body()
            return Double(units) / Stopwatch.seconds(since: start)
        }
        // As the store does, which commits the rows of several pages together.
        let parts = max(1, rows / 50_000)
        try download.prepare(.everyCommit)
        let downloading = try rate(rows) {
            for part in 0..<parts { try download.write(.each, part: part, of: parts) }
        }
        try download.prepare()
        let rebuilding = try rate(rows) { try download.rebuild() }
        try changed.prepare(.everyCommit)
        let changing = try rate(rows / 100) { try changed.write(.each) }
        let reading = try rate(rows) {
            guard try reads.reading({ try reads.rows(keys) }) == rows else { throw Failure("Orders are missing.") }
        }
        return [
            ("download alone", downloading), ("rebuild alone", rebuilding), ("changed alone", changing),
            ("second download alone", reading),
        ]
    }
}
