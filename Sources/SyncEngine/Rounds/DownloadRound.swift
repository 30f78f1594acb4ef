import EDM
import ODataWire
import Operations

/// One download: each defining query page by page into the log. What a query no longer brings goes after its last page.
struct DownloadRound {
    let store: LocalStore
    let session: ServiceSession
    var options = DownloadOptions()

    /// The most pages that one query may have: a service whose next links never end must not fill the disk.
    private static let pageLimit = 1_000_000

    func run(_ queries: [DefiningQuery]) async throws(TidelogError) -> DownloadReport {
        var report = DownloadReport()
        guard !queries.isEmpty else { return report }
        let model = try await store.model
        for query in queries { try LocalStore.check(query, model) }
        var reading = PatientReading(store, session, options.retry)
        try await reading.begin(ignoresPostponement: options.ignoresPostponement)
        try await store.record([.downloadStarted(queries: queries.map(\.name))])
        for query in queries {
            try await run(query, model, &reading, &report)
            try await store.record([.downloadFinished(query: query.name)])
        }
        return report
    }

    private func run(
        _ query: DefiningQuery, _ model: EntityDataModel, _ reading: inout PatientReading,
        _ report: inout DownloadReport
    ) async throws(TidelogError) {
        let encoder = RequestEncoder(
            version: model.version, model: model, serviceRoot: session.root, options: try await store.serviceOptions)
        let reader = PayloadReader(version: model.version, model: model)
        let (set, type, isSingle) = try target(of: query, model)
        var next: String? = query.query
        var seen: Set<String> = []
        while let url = next {
            guard seen.insert(url).inserted, seen.count <= Self.pageLimit else { throw Self.endless(url) }
            let response = try await reading.get(url, headers: encoder.headers)
            if isSingle, response.status == 404 || response.status == 204 { break }
            try ServiceSession.check(response, "GET", url)
            var page: FeedPayload
            do throws(PayloadError) {
                page =
                    isSingle
                    ? FeedPayload(entities: [try reader.entity(response.body, type: type)])
                    : try reader.feed(response.body, type: type)
            } catch {
                throw TidelogError(
                    .notOData, "The answer to the defining query \(query.name) cannot be read: \(error)",
                    place: "GET \(url.prefix { $0 != "?" })", cause: error)
            }
            for index in page.entities.indices {
                try await complete(&page.entities[index], type, model, encoder, reader, &reading)
            }
            let (count, skipped) = try await store.ingest(page.entities, of: set, query: query.name)
            report.pages += 1
            report.entities += count
            report.skipped.formUnion(skipped)
            next = page.nextLink
        }
    }

    private static func endless(_ url: String) -> TidelogError {
        TidelogError(
            .notOData, "The service's next links lead in a circle.", place: "GET \(url.prefix { $0 != "?" })")
    }

    private func target(
        of query: DefiningQuery, _ model: EntityDataModel
    ) throws(TidelogError) -> (set: EntitySet, type: EntityType, isSingle: Bool) {
        let path: ResourcePath
        do throws(URLSyntaxError) {
            path = try ServiceRequest.parse(
                URLText.encoded(query.query), model: model, version: model.version
            ).path
        } catch {
            throw TidelogError(error)
        }
        switch path.target {
        case .entities(let type, let set?): return (set, type, false)
        case .entity(let type, let set?): return (set, type, true)
        default:
            throw TidelogError(
                .invalidRequest, "The defining query \(query.name) leads to no entity set.", place: query.query)
        }
    }

    /// An expanded collection may come in pages of its own.
    private func complete(
        _ entity: inout EntityPayload, _ type: EntityType, _ model: EntityDataModel, _ encoder: RequestEncoder,
        _ reader: PayloadReader, _ reading: inout PatientReading
    ) async throws(TidelogError) {
        for index in entity.expanded.indices {
            guard let target = type.findProperty(entity.expanded[index].navigation)?.navigation?.targetType,
                let targetType = model.findEntityType(target)
            else { continue }
            var seen: Set<String> = []
            while let url = entity.expanded[index].nextLink {
                guard seen.insert(url).inserted, seen.count <= Self.pageLimit else { throw Self.endless(url) }
                let response = try await reading.get(url, headers: encoder.headers)
                try ServiceSession.check(response, "GET", url)
                do throws(PayloadError) {
                    let page = try reader.feed(response.body, type: targetType)
                    entity.expanded[index].entities += page.entities
                    entity.expanded[index].nextLink = page.nextLink
                } catch {
                    throw TidelogError(
                        .notOData, "An expanded page cannot be read: \(error)",
                        place: "GET \(url.prefix { $0 != "?" })", cause: error)
                }
            }
        }
    }
}
