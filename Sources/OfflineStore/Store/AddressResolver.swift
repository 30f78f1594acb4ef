import EDM
import ODataQuery
import Operations
import SyncCore
import Views

/// Resolves readLinks, editLinks and keys to entities, including superseded ones.
struct AddressResolver {
    let state: WorkingSet
    let model: EntityDataModel
    let root: String?

    private var names: EntityNames<WorkingSet> {
        EntityNames(storage: state, model: model, serviceRoot: root ?? "")
    }

    func entity(_ address: EntityAddress) throws -> EntityID {
        switch address {
        case .link(let url): return try entity(at: url)
        case .key(let set, let key):
            try checkIsOfContainer(set)
            try checkIsWhole(key, of: set)
            return try entity(set: set, key: key)
        case .id(let id):
            guard try state.set(of: id) != nil else { throw notFound("The entity \(id)") }
            return id
        case .draft: throw TidelogError(.notFound, "A new entity cannot be read before it is created.")
        }
    }

    /// Returns the entity at a URL.
    ///
    /// - Parameter url: An absolute URL or one relative to the service root, percent-encoded or not.
    func entity(at url: String) throws -> EntityID {
        if let named = PlainLink(local: url), let id = Optional(EntityID(rawValue: UInt64(named.key))),
            try state.set(of: id) == named.set, model.findEntitySet(named.set) != nil
        {
            return id
        }
        if let id = try containedEntity(at: url) { return id }
        if let id = try names.entity(named: url) { return id }
        let path = try ServiceRequest.parse(
            URLText.encoded(url), serviceRoot: root, model: model, version: model.version
        ).path
        guard case .entitySet(let set)? = path.segments.first else { throw notALink(url) }
        if path.segments.count == 1, set.isSingleton, let id = try state.rows(set: set.name).first { return id }
        if let path = ContainmentPath(path, model), path.set.isContained, path.isEntity {
            guard let id = try names.entity(at: path) else { throw notFound(URLText.withoutSecrets(url)) }
            return id
        }
        guard path.segments.count == 2, case .key(let selector) = path.segments[1] else { throw notALink(url) }
        switch selector {
        case .entityID(let number):
            let id = EntityID(rawValue: number)
            guard try state.set(of: id) == set.name else { throw notFound(URLText.withoutSecrets(url)) }
            return id
        case .key(let key): return try entity(set: set.name, key: key)
        }
    }

    /// Resolves a link such as `People/Trips(~7)`: the set's name and the entity ID, the form in which errors and the
    /// error archive refer to a contained entity.
    private func containedEntity(at url: String) throws -> EntityID? {
        guard url.hasSuffix(")"), let slash = url.lastIndex(of: "/"),
            let plain = PlainLink(local: String(url[slash...].dropFirst()))
        else { return nil }
        let id = EntityID(rawValue: UInt64(plain.key))
        guard let set = try state.set(of: id), set == "\(url[..<slash])/\(plain.set)",
            model.findEntitySet(set)?.isContained == true
        else { return nil }
        return id
    }

    func entity(set: String, key: KeyPredicate) throws -> EntityID {
        if let id = try names.entity(set: set, key: key) { return id }
        throw notFound("\(set)(\(KeyText.of(key)))")
    }

    /// Checks that the set is not contained, because a key is unique only below its container.
    private func checkIsOfContainer(_ set: String) throws {
        guard let containment = model.findEntitySet(set)?.containment else { return }
        throw TidelogError(
            .invalidRequest,
            "A key of \(set) is unique only within its parent in \(containment.parent.name), so it does not identify the entity.",
            recovery:
                "Use a readLink, for example that of the parent followed by /\(containment.navigation.name)(…).")
    }

    /// Checks that the key is complete, because several entities may share a part of a key.
    private func checkIsWhole(_ key: KeyPredicate, of set: String) throws {
        guard let set = model.findEntitySet(set), set.entityType.keyParts.count != key.values.count,
            !(set.entityType.alternateKeys + set.alternateKeys).contains(where: {
                $0.parts.map(\.name) == key.values.map(\.name)
            })
        else { return }
        let names = set.entityType.keyParts.map(\.name)
        throw TidelogError(
            .invalidRequest, "\(set)(\(KeyText.of(key))) is not a complete key.",
            recovery: "A key of \(set) has a value for \(names.joined(separator: ", ")).")
    }

    private func notALink(_ url: String) -> TidelogError {
        TidelogError(
            .invalidRequest, "\(URLText.withoutSecrets(url)) does not identify one entity.",
            recovery: "Use a readLink, for example Customers(1) or Customers(~7).")
    }

    private func notFound(_ place: String) -> OperationRefused {
        OperationRefused(
            .entityNotFound, "\(place) is not in the store.",
            recovery: "Download the entity first, or check the key.")
    }
}
