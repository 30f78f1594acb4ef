import ODataWire
import SyncCore

/// The first pages of defining queries, requested before the turn of their query: several at the same time, or a group
/// in one `$batch`.
///
/// A response that is no success is discarded; the query then sends the request again in its turn, with all retries.
struct PrefetchedPages {
    /// The means to request pages.
    struct Source: Sendable {
        let session: ServiceSession
        let encoder: RequestEncoder
        /// The directory for pages that are too large for memory, or nil to hold them in memory.
        let directory: String?
        let memoryLimit: Int
    }

    private let queries: [(name: String, request: QueryRun.Request)]
    private let source: Source
    /// The maximum number of queries that are requested at the same time, including the current one.
    private let width: Int
    private let groups: [[String]]
    /// The pages that were requested and not used yet.
    private var pages: [Int: Task<StreamedResponse?, Never>] = [:]
    private var requested: Set<Int> = []

    /// - Parameter queries: The queries in the order of their turns, each with its first request.
    init(
        _ queries: [(name: String, request: QueryRun.Request)], _ options: DownloadOptions, _ source: Source
    ) {
        self.queries = queries
        self.source = source
        width = max(1, options.maximumConcurrentQueries)
        groups = source.encoder.options.supportsBatch ? options.groups : []
    }

    /// Returns the first page of a query whose turn has come, and requests those of the following queries. Nil if the
    /// query has to request it.
    mutating func page(of index: Int) async -> StreamedResponse? {
        requestGroup(of: index)
        requested.insert(index)
        for next in queries.indices.dropFirst(index + 1).prefix(width - 1) { request(next) }
        return await pages.removeValue(forKey: index)?.value
    }

    /// Cancels all requests that are still running.
    func cancel() { for page in pages.values { page.cancel() } }

    private mutating func request(_ index: Int) {
        guard requested.insert(index).inserted else { return }
        let source = self.source
        let page = wire(index)
        guard source.session.isOfService(page.url) else { return }
        pages[index] = Task { await source.page(page) }
    }

    private func wire(_ index: Int) -> WireRequest {
        var headers = source.encoder.headers
        headers["Prefer"] = queries[index].request.preferences
        return WireRequest(method: "GET", url: queries[index].request.url, headers: headers)
    }

    /// Requests the pages of all queries of the group to which the query belongs, unless this has happened.
    private mutating func requestGroup(of index: Int) {
        guard !requested.contains(index), let group = groups.first(where: { $0.contains(queries[index].name) }) else {
            return
        }
        let source = self.source
        let members = queries.indices.filter {
            group.contains(queries[$0].name) && !requested.contains($0)
                && source.session.isOfService(queries[$0].request.url)
        }
        guard members.count > 1 else { return }
        requested.formUnion(members)
        let requests = members.map(wire)
        let batch = Task { await source.pages(requests) }
        for (place, member) in members.enumerated() {
            pages[member] = Task {
                await withTaskCancellationHandler {
                    await batch.value[place]
                } onCancel: {
                    batch.cancel()
                }
            }
        }
    }
}

extension PrefetchedPages.Source {
    /// Returns the whole response to a request, or nil if it is no success or breaks off.
    fileprivate func page(_ request: WireRequest) async -> StreamedResponse? {
        do {
            let answer = try await session.stream(request.url, headers: request.headers)
            guard answer.response.isSuccess else { return nil }
            let spool = PageSpool(directory: directory, memoryLimit: memoryLimit)
            while let chunk = try await answer.body.next() { try spool.append(chunk) }
            return StreamedResponse(response: answer.response, body: try spool.body())
        } catch {
            return nil
        }
    }

    /// Returns the responses to requests that are sent in one batch.
    fileprivate func pages(_ requests: [WireRequest]) async -> [StreamedResponse?] {
        let none = [StreamedResponse?](repeating: nil, count: requests.count)
        do {
            let batch = BatchRequest(parts: requests.map { .query($0.asBatchPart) })
            let exchange = try BatchExchange(
                batch, version: encoder.version, options: encoder.options, headers: encoder.headers)
            let response = try await session.modify(exchange.request)
            guard response.isSuccess else { return none }
            return try exchange.outcomes(response).map { outcome in
                guard case .query(.answered(let page)) = outcome, page.isSuccess else { return nil }
                var head = page
                head.body = []
                return StreamedResponse(response: head, body: StreamedBody(page.body))
            }
        } catch {
            return none
        }
    }
}
