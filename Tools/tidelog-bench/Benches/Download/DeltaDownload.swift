internal import OfflineStore
internal import Operations
internal import SyncCore
internal import SyncEngine

/// The cost of changes from a delta link, compared with the rows of a full download, in a small and in a large store.
enum DeltaDownload {
    static func cases(rows: Int, in directory: Directory) async throws -> [Case] {
        let changes = max(1, rows / 100)
        var cases: [Case] = []
        for size in [rows / 4, rows] where size >= changes {
            let folder = try directory.fresh("delta-pages")
            try DownloadWorkload.write(rows: size, perPage: DownloadWorkload.perPage, to: folder, changes: changes)
            let store = try await DownloadWorkload.store(StoreFiles(directory: directory.fresh("delta-store")))
            let engine = DownloadWorkload.engine(store, pages: folder)
            try await DownloadWorkload.addQueries(engine)
            _ = try await engine.download(["Customers"])
            let full = try await Stopwatch.seconds { _ = try await engine.download(["Orders"]) }
            var changed = 0
            let delta = try await Stopwatch.seconds {
                let report = try await engine.download(["Orders"])
                changed = report.queries.first { $0.mode == .delta }?.tally.changed ?? 0
            }
            await store.close()
            guard changed == changes else { throw Failure("The delta link returned \(changed) of \(changes) changes.") }
            cases.append(
                Case(
                    "delta of \(changes) rows, \(size) in the store", Double(changed) / delta, .rowsPerSecond,
                    against: .init(name: "its full download", value: Double(size) / full)))
        }
        return cases
    }
}
