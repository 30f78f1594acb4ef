import EDM
import ODataQuery
import ODataWire
import OfflineStore
import SyncCore
import SyncEngine

/// Queries as requests to the service.
struct OnlineReader {
    let session: ServiceSession
    let model: EntityDataModel
    let urls: OnlineURLs
    let snapshots: OnlineSnapshots
    private let reader: PayloadReader

    /// - Parameter options: The options of the service, whose format the requests state.
    init(session: ServiceSession, model: EntityDataModel, options: ServiceOptions) {
        self.session = session
        self.model = model
        urls = OnlineURLs(model: model, root: session.root, format: options.payloadFormat)
        snapshots = OnlineSnapshots(model: model, root: session.root)
        reader = PayloadReader(version: model.version, model: model, limits: session.limits.reading)
    }

    func query(_ request: QueryRequest, _ headers: HTTPHeaders) async throws(TidelogError) -> QueryAnswer {
        var answer: QueryAnswer?
        for url in try urls.urls(of: request) {
            let next = try await get(url, headers)
            answer?.entities += next.entities
            answer = answer ?? next
        }
        return answer ?? QueryAnswer(entities: [])
    }

    /// Returns a query as a part of a batch.
    func part(_ request: QueryRequest, _ headers: HTTPHeaders) throws(TidelogError) -> WireRequest {
        let url = try url(of: request)
        return WireRequest(
            method: "GET", url: urls.encoder.url(of: .url(URLText.encoded(url))),
            headers: self.headers(try pages(at: url), headers))
    }

    /// Reads the response to a query in a batch, including all following pages.
    func answer(
        _ request: QueryRequest, _ headers: HTTPHeaders, _ response: WireResponse
    ) async throws(TidelogError) -> QueryAnswer {
        try await get(try url(of: request), headers, first: response)
    }

    /// Returns the only URL of a query that names a set, a URL or a navigation property.
    private func url(of request: QueryRequest) throws(TidelogError) -> String {
        try urls.urls(of: request).first ?? ""
    }

    func load(
        _ address: EntityAddress, _ options: QueryOptions, _ headers: HTTPHeaders
    ) async throws(TidelogError) -> EntitySnapshot {
        let url = try urls.url(of: address)
        guard let entity = try await get(url + (try urls.suffix(options)), headers).entities.first else {
            throw TidelogError(.notFound, "The service has no such entity.", place: Self.path(url))
        }
        return entity
    }

    // MARK: Pages

    private func pages(at url: String) throws(TidelogError) -> OnlinePageReader {
        let request: ServiceRequest
        do throws(URLSyntaxError) {
            request = try ServiceRequest.parse(
                url, serviceRoot: session.root, model: model, version: model.version)
        } catch {
            throw TidelogError(.invalidRequest, error.description, place: Self.path(url), cause: error)
        }
        let pages = OnlinePageReader(request, model: model, limits: session.limits.reading)
        try pages.checkIsReadable()
        return pages
    }

    private func headers(_ pages: OnlinePageReader, _ own: HTTPHeaders) -> HTTPHeaders {
        var all = urls.encoder.headers
        if let accept = pages.accept { all["Accept"] = accept }
        all.merge(own)
        return all
    }

    /// - Parameter first: the response to the URL itself, if it is already available.
    private func get(
        _ url: String, _ own: HTTPHeaders, first: WireResponse? = nil
    ) async throws(TidelogError) -> QueryAnswer {
        let pages = try pages(at: url)
        let headers = headers(pages, own)
        var answer = QueryAnswer(entities: [], isSingle: pages.isSingle)
        // V2 has no preference for a page size, so its pages are combined.
        let isPaged = try PagePreference(own) != nil && !model.version.isLegacy
        var first = first
        var next: String? = url
        var seen: Set<ExactText> = []
        var progress = PageProgress(limit: session.limits.fruitlessPages)
        while let page = next {
            guard seen.insert(ExactText(page)).inserted else {
                throw TidelogError(
                    .notOData, "The next links of the service form a cycle.", place: "GET \(Self.path(page))")
            }
            let response = if let first { first } else { try await session.get(page, headers: headers) }
            first = nil
            guard let read = try content(of: response, page, pages) else { return answer }
            guard progress.shouldContinue(after: read.identity) else {
                throw .withoutProgress(page, session.limits)
            }
            try await add(read, to: &answer, url: url, page: page, headers)
            next = read.nextLink.map { session.resolve($0, from: page) }
            // With a page size, each page is a result of its own.
            if isPaged {
                answer.nextLink = next
                break
            }
        }
        return answer
    }

    /// Returns the content of a response, or `nil` if the entity at the URL does not exist.
    private func content(
        of response: WireResponse, _ url: String, _ pages: OnlinePageReader
    ) throws(TidelogError) -> OnlinePageReader.Page? {
        if response.status == 404 {
            if pages.leadsToEntity { return nil }
            if pages.isSingle {
                throw TidelogError(
                    .notFound, "The service has no such resource, or its value is null.", place: "GET \(Self.path(url))"
                )
            }
        }
        try response.requireSuccess("GET", url)
        if response.status == 204, pages.isRaw {
            throw TidelogError(
                .notFound, "The property is null and has no raw value.", place: "GET \(Self.path(url))")
        }
        return try decoded(url) { () throws(PayloadError) in try pages.page(response) }
    }

    private func add(
        _ page: OnlinePageReader.Page, to answer: inout QueryAnswer, url first: String, page url: String,
        _ headers: HTTPHeaders
    ) async throws(TidelogError) {
        switch page.content {
        case .entities(var entities, let type, let set):
            for index in entities.indices { try await complete(&entities[index], type, of: url, headers) }
            let path = snapshots.relative(first)
            let place: OnlineSnapshots.ContainedLocation? =
                set?.isContained != true ? nil : answer.isSingle ? .entity(path) : .collection(path)
            answer.entities += entities.map { snapshots.snapshot($0, type, set, at: place) }
            let removed = page.removed.compactMap { snapshots.link(ofRemoved: $0, type, set) }
            guard !page.hasOtherChanges, removed.count == page.removed.count else {
                throw TidelogError(
                    .unsupported,
                    "The changes contain links, or entities of other entity sets (OData 4.01 Part 1, section 11.3).",
                    place: "GET \(Self.path(url))", recovery: "Execute the query again without the delta link.")
            }
            answer.removed += removed
        case .rows(let rows, let type): answer.entities += rows.map { snapshots.row($0, type) }
        case .mixed(let entities): answer.entities += entities.compactMap(snapshots.mixed)
        case .combinations(let rows):
            answer.form = .joined
            answer.entities += rows.map(snapshots.combination)
        case .references(let urls, let type):
            answer.form = .references
            answer.entities += urls.map { snapshots.reference($0, type, nil) }
        case .value(let value, let type): answer.form = .value(value, type)
        case .values(let values, let type):
            var all = values
            if case .value(.collection(let before), _) = answer.form { all = before + values }
            answer.form = .value(.collection(all), type)
        case .rawValue(let value): answer.form = .rawValue(value)
        case .count: answer.form = .count
        }
        answer.count = answer.count ?? page.count
        answer.deltaLink = page.deltaLink.map { session.resolve($0, from: url) }
    }

    /// Completes expanded collections that the service returned in pages.
    func complete(
        _ entity: inout EntityPayload, _ type: EntityType, of url: String, _ headers: HTTPHeaders
    ) async throws(TidelogError) {
        guard ExpandedPages.areMissing(in: entity) else { return }
        var source = SessionPages(session: session, headers: headers)
        var pages = ExpandedPages(model: model, reader: reader, limits: session.limits)
        guard try await pages.complete(&entity, type, of: url, from: &source) else {
            throw TidelogError(
                .tooLarge,
                "The pages expanded below an entity have more than \(session.limits.entityBytes) bytes.",
                place: "GET \(Self.path(url))", recovery: "Expand less ($select, $filter), or raise the limits.")
        }
    }

    private struct SessionPages: PageSource {
        let session: ServiceSession
        let headers: HTTPHeaders

        mutating func page(
            at link: String, in request: String
        ) async throws(TidelogError) -> (url: String, body: [UInt8]) {
            let url = session.resolve(link, from: request)
            let response = try await session.get(url, headers: headers)
            try response.requireSuccess("GET", url)
            return (url, response.body)
        }
    }

    /// Returns the URL without its query, for errors.
    private static func path(_ url: String) -> String { String(url.prefix { $0 != "?" }) }

    private func decoded<T>(_ url: String, _ body: () throws(PayloadError) -> T) throws(TidelogError) -> T {
        do throws(PayloadError) {
            return try body()
        } catch {
            throw TidelogError(
                .notOData, "The response cannot be read: \(error)", place: "GET \(Self.path(url))", cause: error)
        }
    }
}
