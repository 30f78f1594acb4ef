public import EDM
public import ODataWire
public import Operations
import SyncCore
public import Views

extension LocalStore {
    /// The entity that a readLink, an editLink or a key names.
    ///
    /// - Parameter options: `$select` and `$expand` are looked at.
    public func load(_ address: EntityAddress, options: QueryOptions = QueryOptions()) throws(TidelogError)
        -> EntitySnapshot
    {
        if case .link(let link) = address, let found = try load(plain: link, options) { return found }
        if case .link(let link) = address, let url = try queueURL(link) {
            guard let entry = try answer(url).entities.first else {
                throw TidelogError(.notFound, "There is no such request.", place: link)
            }
            return entry
        }
        let model = try model
        return try read { state throws in
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
        let forms = try linkForms(model)
        if options.select.isEmpty, options.expand.isEmpty, options.compute.isEmpty {
            return try SnapshotReader(state: state, forms: forms).snapshot(row)
        }
        return try LocalQuery(views: try views, state: state, forms: forms, time: environment.now()).entity(
            row, options)
    }

    /// The entity of a link such as `Orders(5)`, by one statement; nil where that is not enough to know.
    private func load(plain link: String, _ options: QueryOptions) throws(TidelogError) -> EntitySnapshot? {
        guard let link = PlainLink(link), let model = fold.model, let set = model.findEntitySet(link.set),
            !set.isSingleton
        else { return nil }
        return try read { state throws -> EntitySnapshot? in
            guard try !views.hasNames(), let row = try views.row(in: set, key: link.key) else { return nil }
            return try snapshot(row, options, model)
        }
    }

    /// Answers an OData query from the views: `Customers?$filter=…`, `Customers(1)/Orders`, a readLink, a
    /// ``QueryAnswer/nextLink``.
    ///
    /// - Parameters:
    ///   - pageSize: how many entities at most come at once; the answer then has a link to those behind.
    ///   - usualPageSize: the same where neither that nor the query, which may be a next link, says it.
    public func query(
        _ url: String, pageSize: Int64? = nil, usualPageSize: Int64? = nil
    ) throws(TidelogError) -> QueryAnswer {
        if let url = try queueURL(url) { return try answer(url) }
        let model = try model
        let time = environment.now()
        return try read { state throws in
            let header = try state.header()
            let query = try parsedQueries.query(url, model: model, root: header.service?.root)
            if query.request.path.target == .metadata { return try metadata(header, query.request.options) }
            return try LocalQuery(views: try views, state: state, forms: linkForms(model), time: time).answer(
                resolved: query.request,
                LocalQuery.Page(path: query.path, size: pageSize, usualSize: usualPageSize))
        }
    }

    /// The metadata document that the store works with; it takes no query options.
    private func metadata(_ header: StateHeader, _ options: QueryOptions) throws -> QueryAnswer {
        guard options == QueryOptions() else {
            throw TidelogError(.invalidRequest, "$metadata takes no query options.")
        }
        let document = String(decoding: header.service?.metadata ?? [], as: UTF8.self)
        return QueryAnswer(entities: [], isSingle: true, form: .rawValue(.string(document)))
    }

    /// - Parameters:
    ///   - pageSize: as for ``query(_:pageSize:usualPageSize:)``; the path has to be an entity set then.
    ///   - usualPageSize: likewise.
    public func query(
        path: ResourcePath, options: QueryOptions, pageSize: Int64? = nil, usualPageSize: Int64? = nil
    ) throws(TidelogError) -> QueryAnswer {
        if case .entitySet(let set)? = path.segments.first, set == QueueModel.model.findEntitySet(set.name) {
            return try answer(ServiceRequest(path: path, options: options))
        }
        let model = try model
        let time = environment.now()
        return try read { state throws in
            var page: LocalQuery.Page?
            if case .entitySet(let set)? = path.segments.first {
                page = LocalQuery.Page(path: set.name, size: pageSize, usualSize: usualPageSize)
            }
            return try LocalQuery(views: try views, state: state, forms: linkForms(model), time: time).answer(
                ServiceRequest(path: path, options: options), page)
        }
    }

    /// What a navigation property of an entity leads to.
    ///
    /// - Parameter property: counts by its name: generated classes bring the metadata of the day they were generated, and
    ///   the store goes by its own.
    public func related(
        _ address: EntityAddress, _ property: Property, _ options: QueryOptions, pageSize: Int64? = nil
    ) throws(TidelogError) -> QueryAnswer {
        if case .link(let link) = address, let url = try queueURL(link), url.navigation == nil {
            return try answer(url, property, options)
        }
        let model = try model
        let time = environment.now()
        return try read { state throws in
            let header = try state.header()
            let resolver = AddressResolver(state: state, model: model, root: header.service?.root)
            let id = try resolver.entity(address)
            guard let set = try state.set(of: id).flatMap({ model.findEntitySet($0) }) else {
                throw TidelogError(.notFound, "The entity is not in the store.")
            }
            // A type derived from the set's may declare it.
            let type = try state.row(id).flatMap { model.findEntityType($0.type) }
            let own = set.entityType.findProperty(property.name) ?? type?.findProperty(property.name)
            guard let property = own, property.isNavigation else {
                throw TidelogError(
                    .refused(.unknownNavigationProperty), "\(set.name) has no navigation property \(property.name).")
            }
            let targetType = property.navigation.flatMap { model.findEntityType($0.targetType) } ?? set.entityType
            let targetSet = model.target(of: property, in: set, from: type)
            let path = ResourcePath(
                segments: [.entitySet(set), .key(.entityID(id.rawValue)), .navigation(property)],
                target: property.isCollection
                    ? .entities(targetType, in: targetSet) : .entity(targetType, in: targetSet))
            let forms = try linkForms(model)
            // The path of a contained entity goes through the one that contains it.
            let place = set.isContained ? try state.row(id).map(forms.readLink) : nil
            return try LocalQuery(views: try views, state: state, forms: forms, time: time).answer(
                ServiceRequest(path: path, options: options),
                LocalQuery.Page(path: "\(place ?? "\(set.name)(\(id))")/\(property.name)", size: pageSize))
        }
    }

    /// The entities that lead to this one by a navigation property of theirs: the same relationship walked backwards, whether
    /// or not the metadata have a property for that direction.
    public func sources(
        of address: EntityAddress, by property: Property, _ options: QueryOptions
    ) throws(TidelogError) -> QueryAnswer {
        let model = try model
        let time = environment.now()
        return try read { state throws in
            let header = try state.header()
            let id = try AddressResolver(state: state, model: model, root: header.service?.root).entity(address)
            guard let set = try state.set(of: id).flatMap({ model.findEntitySet($0) }) else {
                throw TidelogError(.notFound, "The entity is not in the store.")
            }
            guard let backwards = model.backwards(property) else {
                throw TidelogError(
                    .refused(.unknownNavigationProperty), "There is no navigation property \(property) any more.")
            }
            let path = ResourcePath(
                segments: [.entitySet(set), .key(.entityID(id.rawValue)), .navigation(backwards.property)],
                target: .entities(backwards.type, in: model.target(of: backwards.property, in: set)))
            return try LocalQuery(views: try views, state: state, forms: linkForms(model), time: time).answer(
                ServiceRequest(path: path, options: options))
        }
    }

    /// The IDs of what a navigation property leads to, or with `isBackwards` of what leads here by it, in their order. Reads no
    /// entities.
    public func linkedEntities(
        _ address: EntityAddress, _ property: Property, isBackwards: Bool = false
    ) throws(TidelogError) -> [EntityID] {
        let model = try model
        return try read { state throws in
            let id = try AddressResolver(state: state, model: model, root: state.header().service?.root).entity(address)
            let own = model.findEntityType(property.declaringType)?.findProperty(property.name) ?? property
            guard let end = isBackwards ? model.backwards(own)?.property.navigation : own.navigation else {
                throw TidelogError(
                    .refused(.unknownNavigationProperty), "There is no navigation property \(property) any more.")
            }
            return try state.targets(of: id, along: end).sorted()
        }
    }

    /// Links that name the entities by their IDs, as `Customers(~7)`. They are good for ever, for deleted entities too.
    public func localLinks(of entities: Set<EntityID>) throws(TidelogError) -> [EntityID: String] {
        try read { state throws in
            var links: [EntityID: String] = [:]
            for id in entities { links[id] = try state.set(of: id).map { "\($0)(\(id))" } }
            return links
        }
    }

    /// Every key that the service gave an entity of this store, and the entity's ID.
    public func keyMap() throws(TidelogError) -> [KeyMapEntry] {
        try read { _ in try views.keyMap() }
    }

    /// The entity that has the key, in the form of `KeyText`, or had it once.
    package func entity(set: String, key: String) throws(TidelogError) -> EntityID? {
        try read { try $0.entity(set: set, key: key) }
    }

    /// A hash over the whole state; see ``StateDigest``.
    public func digest() throws(TidelogError) -> String { try read { try StateDigest(of: $0).description } }
}
