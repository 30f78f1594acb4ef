import EDM
import ODataQuery
import Operations
import SyncCore
import Views

/// The evaluation of OData queries on the state of a store.
struct StoreQueries {
    let core: StoreCore

    private var queue: QueueQueries { QueueQueries(core: core) }

    func answer(_ request: LiveQuery.Request) throws(TidelogError) -> QueryAnswer {
        switch request {
        case .url(let url): try query(url)
        case .set(let path, let options): try query(path: path, options: options)
        case .related(let address, let property, let options): try related(address, property, options)
        }
    }

    /// Returns the entity at an address.
    ///
    /// - Parameter options: Options, of which `$select` and `$expand` are applied.
    func load(_ address: EntityAddress, options: QueryOptions = QueryOptions()) throws(TidelogError)
        -> EntitySnapshot
    {
        if case .link(let link) = address, let found = try load(plain: link, options) { return found }
        if case .link(let link) = address, let url = try queue.url(link) {
            guard let entry = try queue.answer(url).entities.first else {
                throw TidelogError(.notFound, "The request does not exist.", place: link)
            }
            return entry
        }
        let model = try core.model
        return try core.read { state throws in
            let header = try state.header()
            let resolver = AddressResolver(state: state, model: model, root: header.service?.root)
            let id = try resolver.entity(address)
            guard let row = try state.row(id) else {
                throw TidelogError(.notFound, "The entity was deleted.", place: "\(try state.set(of: id) ?? "")(\(id))")
            }
            return try snapshot(row, options, model)
        }
    }

    private func snapshot(
        _ row: EntityRow, _ options: QueryOptions, _ model: EntityDataModel
    ) throws -> EntitySnapshot {
        let forms = try core.linkForms(model)
        if options.select.isEmpty, options.expand.isEmpty, options.compute.isEmpty {
            return try SnapshotReader(state: core.state, forms: forms).snapshot(row)
        }
        let query = LocalQuery(
            views: try core.views, state: core.state, forms: forms, time: core.environment.now())
        return try query.entity(row, options)
    }

    /// Returns the entity for a link such as `Orders(5)` with a single statement, or nil if that is not sufficient.
    private func load(plain link: String, _ options: QueryOptions) throws(TidelogError) -> EntitySnapshot? {
        guard let link = PlainLink(link), let model = core.fold.model, let set = model.findEntitySet(link.set),
            !set.isSingleton
        else { return nil }
        return try core.read { state throws -> EntitySnapshot? in
            guard try !core.views.hasNames(), let row = try core.views.entityQueries.row(in: set, key: link.key) else {
                return nil
            }
            return try snapshot(row, options, model)
        }
    }

    /// Executes an OData query on the views: `Customers?$filter=…`, `Customers(1)/Orders`, a readLink, or a
    /// ``QueryAnswer/nextLink``.
    ///
    /// - Parameters:
    ///   - pageSize: The largest number of entities in the result, which then has a link to the next ones.
    ///   - usualPageSize: The page size if neither `pageSize` nor the query, which may be a next link, sets one.
    func query(
        _ url: String, pageSize: Int64? = nil, usualPageSize: Int64? = nil
    ) throws(TidelogError) -> QueryAnswer {
        let model = try core.model
        return try core.read { state throws in
            let header = try state.header()
            let query: ParsedQueries.Query
            if let known = core.parsedQueries.known(url, model: model, root: header.service?.root) {
                query = known
            } else {
                let encoded = URLText.encoded(url)
                // A known query is not about the queue, of which none is parsed here.
                if let url = try queue.url(encoded: encoded) { return try queue.answer(url) }
                query = try core.parsedQueries.parse(url, encoded, model: model, root: header.service?.root)
            }
            if query.request.path.target == .metadata { return try metadata(header, query.request.options) }
            let time = core.environment.now()
            return try LocalQuery(views: try core.views, state: state, forms: core.linkForms(model), time: time).answer(
                resolved: query.request,
                LocalQuery.Page(path: query.path, size: pageSize, usualSize: usualPageSize))
        }
    }

    /// Returns the service's own metadata document. It takes no query options.
    private func metadata(_ header: StateHeader, _ options: QueryOptions) throws -> QueryAnswer {
        guard options == QueryOptions() else {
            throw TidelogError(.invalidRequest, "$metadata does not accept query options.")
        }
        let own = ReferencedMetadata.parts(ClientOnlyMetadata.parts(header.service?.metadata ?? []).service)[0]
        let document = String(decoding: own, as: UTF8.self)
        return QueryAnswer(entities: [], isSingle: true, form: .rawValue(.string(document)))
    }

    /// Executes a query on a path.
    ///
    /// - Parameters:
    ///   - pageSize: As in ``query(_:pageSize:usualPageSize:)``; the path then has to be an entity set.
    ///   - usualPageSize: As in ``query(_:pageSize:usualPageSize:)``.
    func query(
        path: ResourcePath, options: QueryOptions, pageSize: Int64? = nil, usualPageSize: Int64? = nil
    ) throws(TidelogError) -> QueryAnswer {
        if case .entitySet(let set)? = path.segments.first, set == QueueModel.model.findEntitySet(set.name) {
            return try queue.answer(ServiceRequest(path: path, options: options))
        }
        let model = try core.model
        let time = core.environment.now()
        return try core.read { state throws in
            var page: LocalQuery.Page?
            if case .entitySet(let set)? = path.segments.first {
                page = LocalQuery.Page(path: set.name, size: pageSize, usualSize: usualPageSize)
            }
            return try LocalQuery(views: try core.views, state: state, forms: core.linkForms(model), time: time).answer(
                ServiceRequest(path: path, options: options), page)
        }
    }

    /// Returns the targets of a navigation property of an entity.
    ///
    /// - Parameter property: The property, of which only the name is used. Generated classes contain the metadata of
    ///   the time of their generation, but the store uses its own.
    func related(
        _ address: EntityAddress, _ property: Property, _ options: QueryOptions, pageSize: Int64? = nil
    ) throws(TidelogError) -> QueryAnswer {
        if case .link(let link) = address, let url = try queue.url(link), url.navigation == nil {
            return try queue.answer(url, property, options)
        }
        let model = try core.model
        let time = core.environment.now()
        return try core.read { state throws in
            let header = try state.header()
            let resolver = AddressResolver(state: state, model: model, root: header.service?.root)
            let id = try resolver.entity(address)
            guard let set = try state.set(of: id).flatMap({ model.findEntitySet($0) }) else {
                throw TidelogError(.notFound, "The entity is not in the store.")
            }
            let declared = set.entityType.findProperty(property.name)
            // A type derived from the set's type may declare it, or have a binding of its own.
            let isTyped = declared == nil || set.bindings.keys.contains { $0.utf8.contains(UInt8(ascii: "/")) }
            let type = isTyped ? try state.row(id).flatMap { model.findEntityType($0.type) } : nil
            guard let property = declared ?? type?.findProperty(property.name), property.isNavigation else {
                throw TidelogError(
                    .refused(.unknownNavigationProperty), "\(set.name) has no navigation property \(property.name).")
            }
            let targetType = property.navigation.flatMap { model.findEntityType($0.targetType) } ?? set.entityType
            let targetSet = model.target(of: property, in: set, from: type)
            let path = ResourcePath(
                segments: [.entitySet(set), .key(.entityID(id.rawValue)), .navigation(property)],
                target: property.isCollection
                    ? .entities(targetType, in: targetSet) : .entity(targetType, in: targetSet))
            let forms = try core.linkForms(model)
            var page: LocalQuery.Page?
            if pageSize != nil || options.skipToken != nil {
                // The path of a contained entity includes its container.
                let place = set.isContained ? try state.row(id).map(forms.readLink) : nil
                page = LocalQuery.Page(path: "\(place ?? "\(set.name)(\(id))")/\(property.name)", size: pageSize)
            }
            return try LocalQuery(views: try core.views, state: state, forms: forms, time: time).answer(
                ServiceRequest(path: path, options: options), page)
        }
    }

    /// Returns the entities that link to this one by a navigation property of theirs: the relationship in the opposite
    /// direction, whether or not the metadata have a property for it.
    func sources(
        of address: EntityAddress, by property: Property, _ options: QueryOptions
    ) throws(TidelogError) -> QueryAnswer {
        let model = try core.model
        let time = core.environment.now()
        return try core.read { state throws in
            let header = try state.header()
            let id = try AddressResolver(state: state, model: model, root: header.service?.root).entity(address)
            guard let set = try state.set(of: id).flatMap({ model.findEntitySet($0) }) else {
                throw TidelogError(.notFound, "The entity is not in the store.")
            }
            guard let backwards = model.backwards(property) else {
                throw TidelogError(
                    .refused(.unknownNavigationProperty),
                    "The metadata no longer has the navigation property \(property).")
            }
            let path = ResourcePath(
                segments: [.entitySet(set), .key(.entityID(id.rawValue)), .navigation(backwards.property)],
                target: .entities(backwards.type, in: model.target(of: backwards.property, in: set)))
            return try LocalQuery(views: try core.views, state: state, forms: core.linkForms(model), time: time).answer(
                ServiceRequest(path: path, options: options))
        }
    }

    /// Returns the IDs of the targets of a navigation property, or with `isBackwards` of its sources, in ascending
    /// order. Reads no entities.
    func linkedEntities(
        _ address: EntityAddress, _ property: Property, isBackwards: Bool = false
    ) throws(TidelogError) -> [EntityID] {
        let model = try core.model
        return try core.read { state throws in
            let id = try AddressResolver(state: state, model: model, root: state.header().service?.root).entity(address)
            let own = model.findEntityType(property.declaringType)?.findProperty(property.name) ?? property
            guard let end = isBackwards ? model.backwards(own)?.property.navigation : own.navigation else {
                throw TidelogError(
                    .refused(.unknownNavigationProperty),
                    "The metadata no longer has the navigation property \(property).")
            }
            let targets = try state.targets(of: id, along: end).sorted()
            guard model.hasClientOnly, !isBackwards, let source = try state.row(id)?.set else { return targets }
            return try targets.filter { target in
                try state.row(target).map { model.shows($0.set, through: own, from: source) } ?? true
            }
        }
    }

    /// Returns whether the request reads the queue, whose tables almost every transaction changes.
    func isAboutQueue(_ request: LiveQuery.Request) throws(TidelogError) -> Bool {
        switch request {
        case .url(let url): return try queue.url(url) != nil
        case .set(let path, _):
            guard case .entitySet(let set)? = path.segments.first else { return false }
            return set == QueueModel.model.findEntitySet(set.name)
        case .related: return false
        }
    }

    /// Executes the query and explains its execution.
    func explain(_ request: LiveQuery.Request) throws(TidelogError) -> QueryExplanation {
        try core.read { _ in try core.views.explaining { try answer(request).entities.count } }
    }
}
