import EDM
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// The download of one defining query: it sends the requests and appends the responses to the log.
struct QueryDownload {
    let store: LocalStore
    let session: ServiceSession
    let query: DefiningQuery
    let target: Target
    let model: EntityDataModel
    let encoder: RequestEncoder
    private(set) var run: QueryRun
    private(set) var pages = 0
    private(set) var tally = DownloadCounts()
    private(set) var skipped: Set<String> = []
    private(set) var omittedExpansions: Set<String> = []
    /// Entities that could not be applied.
    private(set) var quarantined: [QuarantinedEntity] = []
    /// Entities that appeared several times on one page.
    private(set) var repeated: [String] = []
    /// Entities that a delta removed and that cannot be identified.
    private(set) var unidentifiedRemovals: [String] = []
    /// Links that a delta reported before their other end, in this download or in an earlier one.
    private var waiting = DanglingLinks()
    /// The dangling links that the previous query left, if the store has exactly these; nil if they have to be loaded.
    private let carried: DanglingLinks?
    /// The dangling links for the next query, after this one has finished.
    private(set) var left: DanglingLinks?
    /// Entities that a delta removed from a collection.
    private var unlinked: Set<EntityID> = []
    /// The task that ingests a part into the store while the next part is read.
    private var ingestion: Task<Result<IngestedPart, TidelogError>, Never>?

    /// The response to the first request, if it was requested before the query's turn.
    private var first: StreamedResponse?

    /// The entity set and type of the query's result.
    struct Target {
        let set: EntitySet
        let type: EntityType
        let isSingle: Bool
    }

    init(
        store: LocalStore, session: ServiceSession, query: DefiningQuery, target: Target, model: EntityDataModel,
        encoder: RequestEncoder, run: QueryRun, waiting: DanglingLinks?, first: StreamedResponse? = nil
    ) {
        self.first = first
        carried = waiting
        self.store = store
        self.session = session
        self.query = query
        self.target = target
        self.model = model
        self.encoder = encoder
        self.run = run
    }

    private var reader: PayloadReader {
        var reader = PayloadReader(version: model.version, model: model, limits: session.limits.reading)
        reader.setsAside = true
        // Once, for the log and the views, and while the preceding part is written.
        reader.encodesRows = true
        return reader
    }

    /// Downloads up to the last page.
    ///
    /// When it returns or throws, no ingestion is running any more: each part is in the store or was refused by it.
    mutating func finish(_ reading: inout RetryingReader) async throws(TidelogError) {
        do throws(TidelogError) {
            try await readAll(&reading)
        } catch {
            try? await awaitIngestion()
            throw error
        }
    }

    private mutating func readAll(_ reading: inout RetryingReader) async throws(TidelogError) {
        // The links are passed on, so that each is looked up once per download and not once per query.
        if let carried {
            waiting = carried
        } else {
            waiting = DanglingLinks(kept: try await store.downloads.openLinks())
        }
        while true {
            switch try await step(&reading) {
            case .next: break
            case .restart:
                try await awaitIngestion()
                try await store.record([.downloadStarted([QueryStart(query: query.name, mode: .restarted)])])
                waiting = DanglingLinks(kept: try await store.downloads.openLinks())
                unlinked = []
                (quarantined, repeated, unidentifiedRemovals) = ([], [], [])
            case .finished(let deltaLink):
                try await awaitIngestion()
                // Only a full download shows which entities have been removed. The removals are those of a delta.
                let end = try await store.downloads.finishDownload(
                    of: query, deltaLink: deltaLink, requiresFull: !unidentifiedRemovals.isEmpty, waiting: waiting,
                    unlinked: unlinked)
                tally.removed += end.removed
                left = end.waiting
                return
            case .endless(let url, let reason):
                throw Self.endless(url, reason, session.limits)
            }
        }
    }

    /// Performs one request and processes its response.
    private mutating func step(_ reading: inout RetryingReader) async throws(TidelogError) -> QueryRun.Step {
        let request = run.request
        // The URL is left from an earlier download. Links in new responses are checked when they arrive.
        guard session.isOfService(request.url) else {
            guard run.passesOverUnreadable() else { throw Self.foreign(request.url) }
            return .restart
        }
        var headers = encoder.headers
        headers["Prefer"] = request.preferences
        let answer = if let first { first } else { try await reading.stream(request.url, headers: headers) }
        first = nil
        let response = answer.response
        switch run.answered(response.status) {
        case .page:
            do throws(TidelogError) {
                if let step = try await ingest(whole: answer.body, request.url, &reading) { return step }
            } catch {
                guard error.cause is PayloadError || error.cause is ErrorTrailer, run.passesOverUnreadable() else {
                    throw error
                }
                reading.finished()
                return .restart
            }
            return .next(request.url)
        case .nothing:
            reading.finished()
            return .finished(deltaLink: nil)
        case .again:
            reading.finished()
            return .next(run.request.url)
        case .restart:
            reading.finished()
            return .restart
        case .failure:
            try response.requireSuccess("GET", request.url)
            throw TidelogError(
                .service(status: response.status), "The service responded with status \(response.status).",
                place: Self.place(request.url))
        }
    }

    /// Ingests a response after it has arrived completely and is well-formed. Until then it may turn out to be an
    /// error, which invalidates all of it.
    ///
    /// - Returns: Nil if the connection broke off and the page has to be requested again.
    private mutating func ingest(
        whole body: StreamedBody, _ url: String, _ reading: inout RetryingReader
    ) async throws(TidelogError) -> QueryRun.Step? {
        // A single entity is read as a whole anyway.
        guard !target.isSingle else { return try await ingest(body, url, &reading) }
        let spool = PageSpool(
            directory: store.downloads.spoolDirectory, memoryLimit: store.options.downloadLimits.memory)
        var check = PageValidator(version: model.version, limits: reader.limits)
        while true {
            let chunk: [UInt8]?
            do throws(TidelogError) { chunk = try await body.next() } catch {
                guard try await reading.mayAskAgain(after: error, url) else { throw error }
                return nil
            }
            do throws(PayloadError) {
                if let chunk { try check.append(chunk) } else { try check.finish() }
            } catch {
                throw PageReader.unreadable(error, Self.place(url))
            }
            guard run.admits(context: check.context) else {
                reading.finished()
                return .restart
            }
            guard let chunk else { break }
            try spool.append(chunk)
        }
        return try await ingest(try spool.body(), url, &reading)
    }

    /// Ingests a response in parts, each while the next one is read. The last part is logged with the link to the next
    /// page.
    ///
    /// - Returns: Nil if the connection broke off and the page has to be requested again.
    private mutating func ingest(
        _ body: StreamedBody, _ url: String, _ reading: inout RetryingReader
    ) async throws(TidelogError) -> QueryRun.Step? {
        var page = PageReader(body, reader, target.type, isSingle: target.isSingle, place: Self.place(url))
        // A page that is requested again repeats its links, so the links that were open before the page are
        // restored.
        var waitingBefore: DanglingLinks?
        var last: [DeltaItem] = []
        parts: while true {
            let part = try await page.next()
            guard run.admits(context: page.context) else {
                reading.finished()
                return .restart
            }
            switch part {
            case .brokenOff(let error):
                guard try await reading.mayAskAgain(after: error, url) else { throw error }
                try await awaitIngestion()
                if let waitingBefore { waiting = waitingBefore }
                return nil
            case .end: break parts
            case .items(let items, let isLast):
                try await awaitIngestion()
                waitingBefore = waitingBefore ?? waiting
                let items = try await complete(items, of: url, &reading)
                guard !isLast else {
                    last = items
                    break parts
                }
                try await ingest(items, next: nil)
            }
        }
        reading.finished()
        let step = run.ended(
            next: try page.nextLink.map { link throws(TidelogError) in try serviceLink(link, in: url) },
            deltaLink: try page.deltaLink.map { link throws(TidelogError) in try serviceLink(link, in: url) },
            context: page.context, first: page.first)
        switch step {
        case .restart: return step
        case .next(let next): try await ingest(last, next: next)
        case .finished, .endless: try await ingest(last, next: nil)
        }
        pages += 1
        return step
    }

    // MARK: Into the store

    /// Starts the ingestion of a part.
    private mutating func ingest(_ items: [DeltaItem], next: String?) async throws(TidelogError) {
        try await awaitIngestion()
        guard !Task.isCancelled else {
            throw TidelogError(
                .cancelled, "The download was cancelled.",
                recovery: "Start the download again; it continues after the last complete page.")
        }
        // An interrupted download continues with the first page that has such a removal.
        let next = unidentifiedRemovals.isEmpty ? next : nil
        let (store, set, query, compares, waiting) = (store, target.set, query, run.compares, waiting)
        ingestion = Task(executorPreference: store.environment.executor) {
            do throws(TidelogError) {
                return .success(
                    try await store.downloads.ingest(
                        items, of: set, query: query, compares: compares, next: next, waiting: waiting))
            } catch {
                return .failure(error)
            }
        }
        if !store.options.readsAhead { try await awaitIngestion() }
    }

    /// Waits for the ingestion of the current part.
    private mutating func awaitIngestion() async throws(TidelogError) {
        guard let begun = ingestion else { return }
        ingestion = nil
        let found = try await begun.value.get()
        tally += found.tally
        skipped.formUnion(found.skipped)
        omittedExpansions.formUnion(found.omittedExpansions)
        quarantined += found.quarantined.prefix(max(0, QuarantinedEntity.limit - quarantined.count))
        repeated += found.repeated
        if !run.isFull {
            let room = max(0, QuarantinedEntity.limit - unidentifiedRemovals.count)
            unidentifiedRemovals += found.unidentifiedRemovals.prefix(room)
        }
        waiting = found.waiting
        unlinked.formUnion(found.unlinked)
    }

    /// Returns the absolute form of a link in a response, if it points to the service.
    private func serviceLink(_ link: String, in request: String) throws(TidelogError) -> String {
        try Self.serviceLink(link, in: request, session)
    }

    fileprivate static func serviceLink(
        _ link: String, in request: String, _ session: ServiceSession
    ) throws(TidelogError) -> String {
        guard link.utf8.count <= ServiceLimits.linkBytes else {
            throw TidelogError(
                .tooLarge, "A link to another page has more than \(ServiceLimits.linkBytes) bytes.",
                place: place(request))
        }
        let url = session.resolve(link, from: request)
        guard session.isOfService(url) else { throw foreign(url) }
        return url
    }

    private static func foreign(_ url: String) -> TidelogError {
        TidelogError(
            .notOData, "The next link of the service leads to another server.",
            place: "GET \(URLText.withoutSecrets(url))",
            recovery: "Open the store with the service root that the service uses in its links.")
    }

    private static func endless(
        _ url: String, _ reason: QueryRun.PagingLoop, _ limits: ServiceLimits
    ) -> TidelogError {
        switch reason {
        case .circle: TidelogError(.notOData, "The next links of the service form a cycle.", place: place(url))
        case .noProgress: .withoutProgress(url, limits)
        case .tooManyPages: TidelogError(.tooLarge, "The query has too many pages.", place: place(url))
        }
    }

    private static func place(_ url: String) -> String { "GET \(url.prefix { $0 != "?" })" }

    // MARK: Expansions

    /// Completes expanded collections that are paged themselves.
    private func complete(
        _ items: [DeltaItem], of request: String, _ reading: inout RetryingReader
    ) async throws(TidelogError) -> [DeltaItem] {
        // Most pages have no such collections, so no entity is copied.
        let incomplete = DeltaItem.indicesWithRelated(in: items).filter { ExpandedPages.areMissing(in: items[$0]) }
        guard !incomplete.isEmpty else { return items }
        var items = items
        var expanded = ExpandedPages(model: model, reader: reader, limits: session.limits)
        for index in incomplete {
            guard case .entity(var entity) = items[index] else { continue }
            var source = RetryingPageSource(reading: reading, headers: encoder.headers)
            defer { reading = source.reading }
            let type = entity.set.flatMap(reader.entityType(in:)) ?? target.type
            let fits = try await expanded.complete(&entity, type, of: request, from: &source)
            items[index] = fits ? .entity(entity) : .unreadable(expanded.tooLarge(entity))
        }
        return items
    }
}

/// A source of further pages, restricted to URLs of the service.
private struct RetryingPageSource: PageSource {
    var reading: RetryingReader
    let headers: HTTPHeaders

    mutating func page(
        at link: String, in request: String
    ) async throws(TidelogError) -> (url: String, body: [UInt8]) {
        let url = try QueryDownload.serviceLink(link, in: request, reading.session)
        let response = try await reading.get(url, headers: headers)
        try response.requireSuccess("GET", url)
        return (url, response.body)
    }
}
