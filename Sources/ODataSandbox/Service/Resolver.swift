internal import EDM
internal import ODataQuery

/// The URL of a request below the service root, percent-encoded.
struct RequestURL {
    let path: String
    let query: String

    /// The option `$id` of `DELETE …/$ref?$id=…`.
    var idOption: String? {
        for option in query.split(separator: "&") {
            let parts = option.split(separator: "=", maxSplits: 1)
            let name = parts.first.flatMap { try? PercentCoding.decode($0) }
            if parts.count == 2, name == "$id" { return try? PercentCoding.decode(parts[1]) }
        }
        return nil
    }

    /// Returns the query of the next page.
    func query(replacingSkipToken token: String) -> String {
        let others = query.split(separator: "&").filter { option in
            let name = option.prefix { $0 != "=" }
            return (try? PercentCoding.decode(name)) != "$skiptoken"
        }
        return (others.map(String.init) + ["$skiptoken=\(token)"]).joined(separator: "&")
    }
}

/// Resolves URLs to entities.
struct Resolver {
    let view: ServiceView
    let state: SandboxState
    var contentIDs: [String: RowID] = [:]

    /// Splits a URL that is relative to the service root, absolute, or a path from the server's root.
    func split(_ url: String) throws(SandboxError) -> RequestURL {
        var rest = url
        if url.hasPrefix("/") || url.hasPrefix("http://") || url.hasPrefix("https://") {
            let route = Route(url)
            guard let version = route.view, version.isLegacy == view.isLegacy else {
                throw SandboxError(400, .unknownResource, "\(url) is outside the service at \(view.root).")
            }
            rest = route.rest
        }
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return RequestURL(path: String(parts.first ?? ""), query: parts.count > 1 ? String(parts[1]) : "")
    }

    /// Returns the entity that a link in a body refers to.
    func entity(_ url: String) throws(SandboxError) -> RowID {
        guard case .entity(let address) = try target(of: try split(url).path) else {
            throw SandboxError(400, .badRequest, "\(url) does not identify one entity.")
        }
        guard let row = address.row else {
            throw SandboxError(400, .notFound, "\(url) does not lead to an entity.")
        }
        return row
    }

    func target(of path: String) throws(SandboxError) -> Target {
        var known: [String: ResourcePath.Target] = [:]
        if let id = ContentIDReferences.id(of: path[...]), let row = contentIDs[id], let set = view.set(row.set) {
            known[id] = .entity(set.entityType, in: set)
        }
        let resourcePath: ResourcePath
        do {
            resourcePath = try ResourcePath.parse(path, model: view.model, version: view.version, contentIDs: known)
        } catch {
            let isUnknown = error.code == .unknownSegment || error.code == .unknownProperty
            throw SandboxError(
                isUnknown ? 404 : 400, isUnknown ? .unknownResource : .badRequest, "\(error)", target: path)
        }
        if case .entitySet(let set)? = resourcePath.segments.first, set.segment != set.name,
            !path.drop(while: { $0 == "/" }).hasPrefix(set.segment)
        {
            throw SandboxError(404, .unknownResource, "There is no \(set.name) in the default container.", target: path)
        }
        var walk = Walk(resolver: self)
        for segment in resourcePath.segments { try walk.enter(segment) }
        return walk.target
    }
}

/// The state of resolving a path, segment by segment.
private struct Walk {
    let resolver: Resolver
    var target: Target = .serviceDocument
    /// Whether the path is after `$links`.
    private var asReference = false

    init(resolver: Resolver) { self.resolver = resolver }

    private var view: ServiceView { resolver.view }
    private var state: SandboxState { resolver.state }

    mutating func enter(_ segment: ResourcePath.Segment) throws(SandboxError) {
        switch (segment, target) {
        case (.metadata, _): target = .metadata
        case (.batch, _): target = .batch
        case (.entitySet(let set), _):
            guard let set = view.master.model.findEntitySet(set.name) else { throw unsupported(segment) }
            target =
                set.isSingleton
                ? .entity(.init(set: set, row: state.rows(of: set.name).first?.id, source: nil))
                : .entities(.init(set: set, source: nil))
        case (.contentID(let id), _):
            guard let row = resolver.contentIDs[id], let set = view.master.model.findEntitySet(row.set) else {
                throw SandboxError(
                    400, .unresolvedReference, "$\(id) does not refer to an earlier request of the same change set.")
            }
            target = .entity(.init(set: set, row: state[row] == nil ? nil : row, source: nil))
        case (.key(.key(let key)), .entities(let collection)):
            target = .entity(.init(set: collection.set, row: try find(key, in: collection), source: collection.source))
        case (.key(.key(let key)), .references(let source, let navigation, nil)):
            guard let set = targetSet(of: navigation, from: source) else { throw unsupported(segment) }
            let member = try find(key, in: .init(set: set, source: (source, navigation)))
            target = .references(source: source, navigation: navigation, target: member)
        case (.count, .entities(let collection)): target = .count(collection)
        case (.links, .entity): asReference = true
        case (.ref, .entities(let collection)):
            guard let source = collection.source else { throw unsupported(segment) }
            target = .references(source: source.row, navigation: source.navigation, target: nil)
        case (.ref, .entity(let address)):
            guard let source = address.source else { throw unsupported(segment) }
            let member = source.navigation.isCollection ? address.row : nil
            target = .references(source: source.row, navigation: source.navigation, target: member)
        case (.navigation(let property), .entity(let address)):
            try follow(property, from: try existing(address), in: address.set)
        case (.all, .serviceDocument): target = .everything
        case (.crossjoin(let sets), .serviceDocument): target = .crossjoin(sets)
        case (.property(let property), .entity(let address)) where property.type.primitive == .stream:
            target = .stream(try existing(address), property.name)
        case (.property(let property), .entity(let address)):
            target = .property(try existing(address), path: [property], isRaw: false)
        case (.property(let property), .property(let row, let path, isRaw: false)):
            target = .property(row, path: path + [property], isRaw: false)
        case (.value, .property(let row, let path, isRaw: false)): target = .property(row, path: path, isRaw: true)
        case (.value, .entity(let address)) where address.set.entityType.hasStream:
            target = .media(try existing(address))
        case (.type(let type), .entities(let collection)) where type.name == collection.set.entityType.name: break
        case (.type(let type), .entity(let address)) where type.name == address.set.entityType.name: break
        case (.operationImport(let found, let arguments), .serviceDocument):
            target = .operation(OperationTarget(name: found.name, arguments: arguments, binding: nil))
        case (.operation(let operation, let arguments), _):
            guard let binding = binding else { throw unsupported(segment) }
            target = .operation(OperationTarget(name: operation.name, arguments: arguments, binding: binding))
        default: throw unsupported(segment)
        }
    }

    /// The current target as the binding parameter of an operation, or nil.
    private var binding: OperationTarget.Binding? {
        switch target {
        case .entity(let address):
            let type = TypeReference(.entity(name: address.set.entityType.name))
            return address.row.map { OperationTarget.Binding(type: type, set: address.set, rows: [$0]) }
        case .entities(let collection):
            let type = TypeReference(.entity(name: collection.set.entityType.name), isCollection: true)
            return OperationTarget.Binding(
                type: type, set: collection.set, rows: state.rows(of: collection).map(\.id))
        default: return nil
        }
    }

    private func unsupported(_ segment: ResourcePath.Segment) -> SandboxError {
        SandboxError(501, .notImplemented, "The sandbox does not support the path at \(segment).")
    }

    private func existing(_ address: Target.EntityAddress) throws(SandboxError) -> RowID {
        guard let row = address.row else { throw Transaction.gone }
        return row
    }

    private func find(_ key: KeyPredicate, in collection: Target.Collection) throws(SandboxError) -> RowID {
        let found =
            if !key.isPrimary(of: collection.set.entityType) {
                state.rows(of: collection.set.name).first { key.matches($0.values, of: collection.set.entityType) }?.id
            } else if collection.set.isContained {
                collection.source.flatMap { state.find(collection.set, key, in: $0.row) }
            } else {
                state.follow(collection.set.name, key)
            }
        let members = collection.source.flatMap { source in
            source.navigation.navigation.map { state.targets(of: source.row, through: $0) }
        }
        guard let found, members?.contains(found) != false else {
            throw SandboxError(
                404, .notFound,
                "There is no \(collection.set.name)(\(key.text))"
                    + (collection.source == nil ? "." : " among the \(collection.source?.navigation.name ?? "")."),
                target: collection.set.name)
        }
        return found
    }

    private func targetSet(of navigation: Property, from source: RowID) -> EntitySet? {
        view.master.model.findEntitySet(source.set).flatMap { view.master.model.target(of: navigation, in: $0) }
    }

    private mutating func follow(_ own: Property, from row: RowID, in set: EntitySet) throws(SandboxError) {
        guard let property = set.entityType.findProperty(own.name), let navigation = property.navigation,
            let targetSet = view.master.model.target(of: property, in: set)
        else { throw Transaction.gone }
        if asReference {
            asReference = false
            target = .references(source: row, navigation: property, target: nil)
        } else if property.isCollection {
            target = .entities(.init(set: targetSet, source: (row, property)))
        } else {
            let only = state.targets(of: row, through: navigation).first
            target = .entity(.init(set: targetSet, row: only, source: (row, property)))
        }
    }
}
