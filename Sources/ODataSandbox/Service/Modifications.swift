internal import EDM
internal import ODataQuery
internal import ODataWire

/// Executes modifications within one transaction: a single request, or the requests of a change set in order.
struct Modifications {
    let view: ServiceView
    var transaction: Transaction
    /// The state before the transaction, which clients may have read and with whose ETags theirs are compared.
    let base: SandboxState
    /// The entities that the Content-IDs of earlier requests of the change set refer to.
    var contentIDs: [String: RowID] = [:]
    /// The entities that the current request has created.
    var marks: [RowID: DeepInsertMark] = [:]

    init(view: ServiceView, state: SandboxState) {
        self.view = view
        base = state
        transaction = Transaction(on: state, schema: view.master)
    }

    mutating func perform(_ request: WireRequest) throws(SandboxError) -> ModificationOutcome {
        let resolver = Resolver(view: view, state: transaction.state, contentIDs: contentIDs)
        let url = try resolver.split(request.url)
        let target = try resolver.target(of: url.path)
        guard view.capabilities.patch || (request.method != "PATCH" && request.method != "MERGE") else {
            throw SandboxError(405, .methodNotAllowed, "The service has no \(request.method), only PUT.")
        }
        guard view.isLegacy || request.method != "MERGE" else {
            throw SandboxError(405, .methodNotAllowed, "MERGE is a method of V2; V4 has PATCH.")
        }
        switch (target, request.method) {
        case (.entities(let collection), "POST"): return try create(in: collection, request)
        case (.entity(let address), "PATCH"), (.entity(let address), "MERGE"), (.entity(let address), "PUT"):
            return try update(address, request)
        case (.entity(let address), "DELETE"):
            let row = try existing(address)
            try requireMatch(row, request)
            try transaction.delete(row)
            return .done
        case (.references(let source, let navigation, let target), _):
            return try changeReference(source, navigation, target, id: url.idOption, request)
        case (.media(let row), "PUT"):
            try requireMediaMatch(row, request)
            try transaction.setMedia(media(of: request), of: row)
            try transaction.update(row, with: contentTypeValues(row.set, request))
            return .streamed(row)
        case (.stream(let row, let name), "PUT"), (.stream(let row, let name), "DELETE"):
            try requireMatch(of: base[row]?.streams[name], row, request)
            transaction.setStream(request.method == "PUT" ? media(of: request) : nil, name, of: row)
            return .streamed(row, property: name)
        case (.operation(let operation), _):
            let run = OperationRun(view: view, target: operation, url: url, request: request)
            let (invoked, result) = try run.run(on: &transaction)
            return .invoked(invoked, result, url)
        default:
            throw SandboxError(405, .methodNotAllowed, "\(request.url) does not support \(request.method).")
        }
    }

    // MARK: - Create

    private mutating func create(
        in collection: Target.Collection, _ request: WireRequest
    ) throws(SandboxError) -> ModificationOutcome {
        let set = collection.set
        guard let type = view.set(set.name)?.entityType else { throw Transaction.gone }
        if type.hasStream { return try createMedia(in: collection, request) }
        let body = try requestBody(request, type)
        marks = [:]
        let implied = collection.source.flatMap { $0.navigation.navigation?.relationship.name }
        let row = try insert(body, into: set, bound: implied.map { [$0] } ?? [], in: container(of: collection))
        if let source = collection.source {
            try refuseContradiction(body, source)
            try transaction.link(source.row, source.navigation, to: row)
        }
        return .created(row, expanded: Expansion(inlineOf: body), marks: marks)
    }

    /// Returns the entity that contains entities created in the collection.
    private func container(of collection: Target.Collection) -> RowID? {
        collection.set.isContained ? collection.source?.row : nil
    }

    private mutating func createMedia(
        in collection: Target.Collection, _ request: WireRequest
    ) throws(SandboxError) -> ModificationOutcome {
        var values = contentTypeValues(collection.set.name, request)
        if let slug = request.headers["Slug"], collection.set.entityType.findProperty("Caption") != nil {
            values["Caption"] = .string((try? PercentCoding.decode(slug)) ?? slug)
        }
        let row = try transaction.insert(
            into: collection.set, values: values, media: media(of: request), in: container(of: collection))
        if let source = collection.source { try transaction.link(source.row, source.navigation, to: row) }
        return .created(row, expanded: Expansion())
    }

    /// Inserts the entity in the body, its links, and the new entities inside of it.
    ///
    /// - Parameter bound: The relationships that are determined outside of the body.
    private mutating func insert(
        _ body: RequestBody, into set: EntitySet, bound: Set<String>, in container: RowID? = nil
    ) throws(SandboxError) -> RowID {
        try requireBind(body)
        let decided = Set(try body.navigations.map { name throws(SandboxError) in try relationship(name, of: set) })
        var values = try masterValues(body.values, set)
        if !view.capabilities.keepsClientKeys { values.replaceKey(of: set.entityType) }
        let row = try transaction.insert(into: set, values: values, bound: bound.union(decided), in: container)
        marks[row] = DeepInsertMark(place: marks.count, contentID: body.contentID)
        for binding in body.bindings { try bind(row, binding.navigation, binding.urls, of: set) }
        for inline in body.inline {
            let property = try navigation(inline.navigation, of: set)
            guard let childSet = view.master.model.target(of: property, in: set) else { throw Transaction.gone }
            for child in inline.entities {
                let relationship = property.navigation.map { [$0.relationship.name] } ?? []
                let childRow = try insert(
                    child, into: childSet, bound: Set(relationship), in: childSet.isContained ? row : nil)
                try transaction.link(row, property, to: childRow)
            }
        }
        return row
    }

    private func requireBind(_ body: RequestBody) throws(SandboxError) {
        guard !view.capabilities.bind, let name = body.bindings.first?.navigation else { return }
        throw SandboxError(
            400, .badRequest, "The service does not support links to existing entities in a body.", target: name)
    }

    /// Rejects a body that binds to an entity other than the one in the URL (OData 4.01 Part 1, 11.4.2.2).
    private func refuseContradiction(
        _ body: RequestBody, _ source: (row: RowID, navigation: Property)
    ) throws(SandboxError) {
        guard let partner = view.master.model.partner(of: source.navigation), !partner.isCollection,
            let urls = body.bindings.first(where: { $0.navigation == partner.name })?.urls
        else { return }
        let resolver = Resolver(view: view, state: transaction.state, contentIDs: contentIDs)
        guard try urls.map({ url throws(SandboxError) in try resolver.entity(url) }) == [source.row] else {
            throw SandboxError(
                400, .badRequest, "The URL and \(partner.name) in the body name different entities.",
                target: partner.name)
        }
    }

    // MARK: - Update

    private mutating func update(
        _ address: Target.EntityAddress, _ request: WireRequest
    ) throws(SandboxError) -> ModificationOutcome {
        if address.row == nil, address.set.isContainedSingle, let source = address.source {
            // Updating the target of a single-valued containment property creates it (OData 4.01 Part 1, 11.4.4).
            return try create(in: .init(set: address.set, source: source), request)
        }
        let row = try existing(address)
        guard let type = view.set(address.set.name)?.entityType else { throw Transaction.gone }
        try requireMatch(row, request)
        let body = try requestBody(request, type)
        try requireBind(body)
        let decided = Set(
            try body.navigations.map { name throws(SandboxError) in try relationship(name, of: address.set) })
        try transaction.update(
            row, with: try masterValues(body.values, address.set), replaces: request.method == "PUT", bound: decided)
        for binding in body.bindings { try bind(row, binding.navigation, binding.urls, of: address.set) }
        if let name = body.inline.first?.navigation {
            throw SandboxError(
                400, .badRequest, "\(name) contains a new entity, but an update can only refer to existing ones.",
                target: name
            )
        }
        return .updated(row)
    }

    /// Sets a navigation property. A single-valued one is replaced, or cleared if there is no URL; a collection gains
    /// members.
    private mutating func bind(
        _ row: RowID, _ name: String, _ urls: [String], of set: EntitySet
    ) throws(SandboxError) {
        let property = try navigation(name, of: set)
        let resolver = Resolver(view: view, state: transaction.state, contentIDs: contentIDs)
        if !property.isCollection {
            guard urls.count <= 1 else {
                throw SandboxError(400, .badRequest, "\(name) accepts one entity, not \(urls.count).", target: name)
            }
            if urls.isEmpty { try transaction.unlink(row, property, from: nil) }
        }
        for url in urls { try transaction.link(row, property, to: try resolver.entity(url)) }
    }

    // MARK: - References

    /// Handles `$links` and `$ref`.
    private mutating func changeReference(
        _ source: RowID, _ navigation: Property, _ target: RowID?, id: String?, _ request: WireRequest
    ) throws(SandboxError) -> ModificationOutcome {
        if navigation.navigation?.containsTarget == true {
            throw SandboxError(
                405, .methodNotAllowed, "\(navigation.name) contains its entities, so their links cannot change.",
                target: navigation.name)
        }
        let resolver = Resolver(view: view, state: transaction.state, contentIDs: contentIDs)
        switch (request.method, navigation.isCollection) {
        case ("POST", true) where target == nil, ("PUT", false), ("MERGE", false):
            let url = try referenceBody(request)
            try transaction.link(source, navigation, to: try resolver.entity(url))
        case ("DELETE", true):
            let named = try id.map { url throws(SandboxError) in try resolver.entity(url) }
            guard let member = target ?? named else {
                throw SandboxError(
                    400, .badRequest, "The entity to be removed from \(navigation.name) is not identified.",
                    target: navigation.name)
            }
            try transaction.unlink(source, navigation, from: member)
        case ("DELETE", false):
            guard id == nil else {
                throw SandboxError(
                    400, .badRequest, "$id must not be given for the single-valued \(navigation.name).",
                    target: navigation.name)
            }
            guard let end = navigation.navigation, !transaction.state.targets(of: source, through: end).isEmpty else {
                throw SandboxError(
                    404, .notLinked, "Nothing is linked through \(navigation.name).", target: navigation.name)
            }
            try transaction.unlink(source, navigation, from: nil)
        default:
            throw SandboxError(
                405, .methodNotAllowed,
                "\(request.method) is not supported for references of the "
                    + (navigation.isCollection ? "collection-valued " : "single-valued ") + "\(navigation.name).")
        }
        return .done
    }

    private func existing(_ address: Target.EntityAddress) throws(SandboxError) -> RowID {
        guard let row = address.row else { throw Transaction.gone }
        return row
    }
}
