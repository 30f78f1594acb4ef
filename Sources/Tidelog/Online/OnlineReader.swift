import EDM
import ODataWire
import SyncCore
import SyncEngine

extension TidelogError {
    static func onlyInStore(_ id: EntityID) -> TidelogError {
        TidelogError(
            .invalidRequest, "A service does not know the entity ID \(id).",
            recovery: "Identify the entity by its link or key.")
    }
}

/// Queries as requests to the service.
struct OnlineReader {
    let session: ServiceSession
    let model: EntityDataModel
    private let encoder: RequestEncoder
    private let reader: PayloadReader

    init(session: ServiceSession, model: EntityDataModel) {
        self.session = session
        self.model = model
        encoder = RequestEncoder(version: model.version, model: model, serviceRoot: session.root)
        reader = PayloadReader(version: model.version, model: model, limits: session.limits.reading)
    }

    func query(_ request: QueryRequest, _ headers: HTTPHeaders) async throws(TidelogError) -> QueryAnswer {
        try await get(try url(of: request), headers)
    }

    func url(of request: QueryRequest) throws(TidelogError) -> String {
        switch request {
        case .url(let url): url
        case .set(let set, let options): set.segment + (try suffix(options))
        case .related(let address, let property, let options):
            "\(try url(of: address))/\(property.name)\(try suffix(options))"
        case .entity(let id): throw .onlyInStore(id)
        case .sources(_, let property, _):
            throw TidelogError(
                .unsupported, "A service cannot be queried for the entities whose \(property) leads to an entity.",
                recovery: "Query the entity set with a filter.")
        }
    }

    /// Returns a query as a part of a batch.
    func part(_ request: QueryRequest) throws(TidelogError) -> WireRequest {
        WireRequest(
            method: "GET", url: encoder.url(of: .url(URLText.encoded(try url(of: request)))), headers: encoder.headers)
    }

    /// Reads the response to a query in a batch, including all following pages.
    func answer(_ request: QueryRequest, _ response: WireResponse) async throws(TidelogError) -> QueryAnswer {
        try await get(try url(of: request), .empty, first: response)
    }

    func load(
        _ address: EntityAddress, _ options: QueryOptions, _ headers: HTTPHeaders
    ) async throws(TidelogError) -> EntitySnapshot {
        let url = try url(of: address)
        guard let entity = try await get(url + (try suffix(options)), headers).entities.first else {
            throw TidelogError(.notFound, "The service has no such entity.", place: Self.path(url))
        }
        return entity
    }

    private func suffix(_ options: QueryOptions) throws(TidelogError) -> String {
        do {
            let text = try selectingExpanded(options).print(version: model.version)
            return text.isEmpty ? "" : "?" + text
        } catch {
            throw TidelogError(.unsupported, "\(error)", cause: error)
        }
    }

    /// V2 omits expanded properties that are not selected.
    func selectingExpanded(_ options: QueryOptions) -> QueryOptions {
        guard model.version.isLegacy, !options.select.isEmpty else { return options }
        var options = options
        options.select += options.expand.map { SelectItem(path: $0.path) }
        return options
    }

    func url(of address: EntityAddress) throws(TidelogError) -> String {
        switch address {
        case .link(let url): return encoder.url(of: .url(url))
        case .key(let name, let key):
            guard let set = model.findEntitySet(name) else {
                throw TidelogError(.refused(.unknownEntitySet), model.missingResource(name))
            }
            return encoder.url(of: .entity(set: set, key: key))
        case .id(let id): throw .onlyInStore(id)
        case .draft: throw TidelogError(.notFound, "A new entity cannot be read before it is created.")
        }
    }

    /// - Parameter first: the response to the URL itself, if it is already available.
    private func get(
        _ url: String, _ headers: HTTPHeaders, first: WireResponse? = nil
    ) async throws(TidelogError) -> QueryAnswer {
        let request: ServiceRequest
        do throws(URLSyntaxError) {
            request = try ServiceRequest.parse(
                url, serviceRoot: session.root, model: model, version: model.version)
        } catch {
            throw TidelogError(.invalidRequest, error.description, place: Self.path(url), cause: error)
        }
        var all = encoder.headers
        all.merge(headers)
        switch request.path.target {
        case .entity(let type, let set):
            let response = if let first { first } else { try await session.get(url, headers: all) }
            if response.status == 404 || response.status == 204 { return QueryAnswer(entities: [], isSingle: true) }
            try ServiceSession.check(response, "GET", url)
            var payload = try decoded(url) { () throws(PayloadError) in try reader.entity(response.body, type: type) }
            try await complete(&payload, type, of: url, all)
            let place = set?.isContained == true ? Place.entity(relative(url)) : nil
            return QueryAnswer(entities: [snapshot(payload, type, set, at: place)], isSingle: true)
        case .entities(let type, let set): return try await pages(url, all, type, set, first: first)
        default:
            throw TidelogError(.unsupported, "The query does not return entities.", place: Self.path(url))
        }
    }

    private func pages(
        _ url: String, _ headers: HTTPHeaders, _ type: EntityType, _ set: EntitySet?, first: WireResponse?
    ) async throws(TidelogError) -> QueryAnswer {
        var answer = QueryAnswer(entities: [])
        let isPaged = try PagePreference(headers) != nil
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
            try ServiceSession.check(response, "GET", page)
            var feed = try decoded(page) { () throws(PayloadError) in try reader.feed(response.body, type: type) }
            guard progress.shouldContinue(behind: feed.entities.first.map { DeltaItem.entity($0).identity(type) })
            else {
                throw .withoutProgress(page, session.limits)
            }
            for index in feed.entities.indices {
                try await complete(&feed.entities[index], type, of: page, headers)
            }
            let place = set?.isContained == true ? Place.collection(relative(url)) : nil
            answer.entities += feed.entities.map { snapshot($0, type, set, at: place) }
            answer.count = answer.count ?? feed.count
            next = feed.nextLink.map { session.resolve($0, from: page) }
            // With a page size, each page is a result of its own.
            if isPaged {
                answer.nextLink = next
                break
            }
        }
        return answer
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
            try ServiceSession.check(response, "GET", url)
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

    /// The location of contained entities, whose URLs contain the containing entity.
    enum Place {
        case entity(String)
        case collection(String)
    }

    /// Returns the path relative to the service root, without query options.
    private func relative(_ url: String) -> String {
        let path = Self.path(url)
        return String(path.hasPrefix(session.root) ? path.dropFirst(session.root.count) : path.drop { $0 == "/" })
    }

    private func canonical(_ set: EntitySet?, _ key: KeyPredicate?, at place: Place?) -> String? {
        guard let set else { return nil }
        guard set.isContained else { return key.map { encoder.url(of: .entity(set: set, key: $0)) } }
        switch place {
        case .entity(let url): return url
        case .collection(let url): return key.map { url + encoder.predicate($0, of: set.entityType) }
        case nil: return nil
        }
    }

    /// - Parameter place: the location of a contained entity.
    func snapshot(
        _ payload: EntityPayload, _ declared: EntityType, _ set: EntitySet?, at place: Place? = nil
    ) -> EntitySnapshot {
        let type = payload.type.flatMap { model.findEntityType($0) } ?? declared
        let key = KeyPredicate(of: type, in: payload.values)
        let canonical = canonical(set, key, at: place)
        let link = payload.readLink ?? payload.id ?? payload.editLink ?? canonical ?? set?.name ?? ""
        var expanded: [EntitySnapshot.Expanded] = []
        for item in payload.expanded {
            guard let property = type.findProperty(item.navigation),
                let target = property.navigation.flatMap({ model.findEntityType($0.targetType) })
            else { continue }
            let targetSet = set.flatMap { model.target(of: property, in: $0) }
            var below: Place?
            if let containment = targetSet?.containment, containment.navigation == property, let canonical {
                let path = canonical + "/" + (containment.cast.map { $0 + "/" } ?? "") + property.name
                below = property.isCollection ? .collection(path) : .entity(path)
            }
            expanded.append(
                EntitySnapshot.Expanded(
                    navigation: item.navigation,
                    entities: item.entities.map { snapshot($0, target, targetSet, at: below) }))
        }
        return EntitySnapshot(
            set: set?.name ?? "", type: type.name, values: payload.values, etag: payload.etag,
            readLink: canonical ?? link, editLink: payload.editLink ?? canonical ?? link, expanded: expanded)
    }
}
