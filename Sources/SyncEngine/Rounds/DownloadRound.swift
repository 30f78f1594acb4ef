import EDM
import ODataQuery
import ODataWire
import OfflineStore
import Operations
import SyncCore
import Transport

/// One download, which appends each defining query to the log page by page.
///
/// ``QueryRun`` decides the requests and interprets the responses; `PageBuilder` turns a page into log records.
struct DownloadRound {
    let store: LocalStore
    let session: ServiceSession
    var options = DownloadOptions()

    /// Downloads the queries.
    ///
    /// - Returns: The report, including the queries that failed individually.
    /// - Throws: An error that prevents all queries from being read. It contains the report up to that point.
    func run(_ queries: [DefiningQuery]) async throws(TidelogError) -> DownloadReport {
        var report = DownloadReport()
        guard !queries.isEmpty else { return report }
        let model = try await store.model
        for query in queries { try query.check(for: model) }
        var reading = RetryingReader(store, session, options.retry)
        try await reading.begin(ignoresPostponement: options.ignoresPostponement)
        let targets = try queries.map { query throws(TidelogError) in try target(of: query, model) }
        let runs = try await begin(queries, targets, model)
        var waiting: DanglingLinks?
        var ahead = PrefetchedPages(
            zip(queries, runs).map { ($0.name, $1.request) }, options, try await pageSource(model))
        defer { ahead.cancel() }
        for (index, (query, run)) in zip(queries, runs).enumerated() {
            let first = await ahead.page(of: index)
            var download = QueryDownload(
                store: store, session: session, query: query, target: targets[index], model: model,
                encoder: RequestEncoder(
                    version: model.version, model: model, serviceRoot: session.root,
                    options: try await store.serviceOptions), run: run, waiting: waiting, first: first)
            let error = await failure(of: &download, &reading)
            waiting = download.left
            report.add(download, error)
            // A failure of one query does not affect the others.
            if let error, !error.isOfOneQuery { throw error.after(report) }
        }
        report.openLinks = try await store.downloads.openLinks()
        return report
    }

    private func pageSource(_ model: EntityDataModel) async throws(TidelogError) -> PrefetchedPages.Source {
        PrefetchedPages.Source(
            session: session,
            encoder: RequestEncoder(
                version: model.version, model: model, serviceRoot: session.root,
                options: try await store.serviceOptions),
            directory: store.downloads.spoolDirectory, memoryLimit: store.options.downloadLimits.memory)
    }

    /// Finishes one query, and returns its error if it failed.
    ///
    /// After an error, the received pages are committed at once, because an app may be terminated without notice.
    private func failure(
        of download: inout QueryDownload, _ reading: inout RetryingReader
    ) async -> TidelogError? {
        do throws(TidelogError) {
            try await download.finish(&reading)
            return nil
        } catch {
            // If the views refuse the commit, they are rebuilt from the log.
            try? await store.downloads.commitPages()
            return error
        }
    }

    /// Logs the start and the mode of each query's download.
    private func begin(
        _ queries: [DefiningQuery], _ targets: [QueryDownload.Target], _ model: EntityDataModel
    ) async throws(TidelogError) -> [QueryRun] {
        let service = try await store.serviceOptions
        let states = try await store.downloads.queryStates()
        let settings = store.options.querySettings
        var runs: [QueryRun] = []
        for (query, target) in zip(queries, targets) {
            let options = QueryRun.Options(
                settings: settings[query.name] ?? DefiningQuerySettings(), pageSize: options.pageSize,
                isLegacy: model.version.isLegacy, usesLegacyDeltas: service.hasDeletionsInV2,
                fruitlessPages: session.limits.fruitlessPages)
            var state = states.first { $0.query.name == query.name } ?? QueryState(query: query)
            state.query.query = model.addressed(state.query.query)
            runs.append(QueryRun(state, options: options, isSingle: target.isSingle, now: store.environment.now()))
        }
        let starts = zip(queries, runs).map { QueryStart(query: $0.name, mode: $1.mode) }
        try await store.record([.downloadStarted(starts)])
        return runs
    }

    private func target(of query: DefiningQuery, _ model: EntityDataModel) throws(TidelogError) -> QueryDownload.Target
    {
        let path: ResourcePath
        do throws(URLSyntaxError) {
            path = try ServiceRequest.parse(
                URLText.encoded(query.query), model: model, version: model.version
            ).path
        } catch {
            throw TidelogError(error)
        }
        switch path.target {
        case .entities(let type, let set?): return QueryDownload.Target(set: set, type: type, isSingle: false)
        case .entity(let type, let set?): return QueryDownload.Target(set: set, type: type, isSingle: true)
        default:
            throw TidelogError(
                .invalidRequest, "The defining query \(query.name) leads to no entity set.", place: query.query)
        }
    }
}

extension TidelogError {
    /// Whether the error concerns only one query.
    fileprivate var isOfOneQuery: Bool {
        switch code {
        case .notOData, .invalidRequest: !(cause is TransportError)
        case .tooLarge: true
        default: isLastingAnswer
        }
    }
}
