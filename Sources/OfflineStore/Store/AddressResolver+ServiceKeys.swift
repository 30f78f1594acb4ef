import EDM
import ODataQuery
import Operations
import SyncCore
import Views

extension AddressResolver {
    /// Returns the image of an entity whose key the service has not returned.
    func image(of entity: EntityAddress, at address: String) throws -> EntityImage {
        let id = try self.entity(entity)
        let name = "\(try state.set(of: id) ?? "")(\(id))"
        guard let row = try EntityResolver(storage: state, model: model).serviceRow(id), row.origin.isOnService else {
            throw TidelogError(
                .invalidRequest, "\(name) is not known to exist at the service.",
                recovery: "If the operation that creates it is in doubt, settle that operation with the address.")
        }
        if let type = model.findEntityType(row.type), let key = KeyPredicate(of: type, in: row.values) {
            throw OperationRefused(
                .keyIsFixed, "The key of \(name) is known: \(KeyText.predicate(key)).",
                recovery: "If the service changed the key, download the entity.")
        }
        return try image(of: id, row.set, row.type, known: row.values, at: address)
    }

    /// Returns the image of an entity with its key.
    ///
    /// - Parameter known: The known values of the entity, which the address must not contradict.
    func image(
        of id: EntityID, _ setName: String, _ type: String, known: PropertyValues, at address: String
    ) throws -> EntityImage {
        guard let set = model.findEntitySet(setName) else {
            throw TidelogError(.invalidRequest, "The metadata has no entity set \(setName).")
        }
        let key = try serviceKey(address, in: set)
        let values = key.located(in: set.entityType)
        let contradiction = values.first { path, value in
            let part = set.entityType.keyParts.first { $0.path == path }
            return known.value(at: path).map {
                $0 != .null && $0 != value && part?.identity(of: $0) != part?.identity(of: value)
            } ?? false
        }
        if let contradiction {
            throw OperationRefused(
                .keyIsFixed,
                "\(setName)(\(KeyText.predicate(key))) is another entity: this one was created with a different \(contradiction.property).",
                recovery: "Look up the entity that was created.")
        }
        if let owner = try owner(of: key, in: set, besides: id, container: try state.container(of: id, in: set)) {
            // An entity that a download has stored since is this one, which takes its place.
            let isSame = owner > id
            guard isSame, try state.pendingOperations(naming: owner).isEmpty else {
                throw OperationRefused(
                    .duplicateKey,
                    "\(setName)(\(KeyText.predicate(key))) is already in the store as another entity, \(setName)(\(owner)).",
                    recovery: isSame
                        ? "A download delivered it later. Upload or undo the pending operations on it, and try again."
                        : "Look up the entity that was created.")
            }
        }
        // A nested key value does not replace the rest of its complex property.
        var reported = PropertyValues()
        for (path, value) in values {
            let root = String(path.prefix { $0 != "/" })
            if root != path, reported[root] == nil { reported[root] = known[root] }
            reported.set(value, at: path)
        }
        return EntityImage(entity: id, set: setName, type: type, values: reported)
    }

    /// Returns the key in a text: the URL of an entity of the set, `Orders(5)`, or the content of the parentheses.
    private func serviceKey(_ text: String, in set: EntitySet) throws -> KeyPredicate {
        var segments: [ResourcePath.Segment]
        do throws(URLSyntaxError) {
            segments = try path(text).segments
        } catch {
            if set.isContained, let key = try? contained(text, set) { return key }
            guard let inner = try? path("\(set.name)(\(text))") else { throw notAKey(text, set, "\(error)") }
            segments = inner.segments
        }
        if set.isContained, let path = ContainmentPath(try path(text), model), path.set == set,
            case .key(let key)? = path.steps.last?.key
        {
            return key
        }
        if case .type? = segments.last { segments.removeLast() }
        guard segments.count == 2, case .entitySet(let named) = segments[0], case .key(let selector) = segments[1]
        else {
            throw notAKey(text, set, nil)
        }
        guard named.name == set.name else {
            throw TidelogError(
                .invalidRequest,
                "\(URLText.withoutSecrets(text)) is in \(named.name), but the entity is in \(set.name).",
                recovery: "Look up the entity that was created.")
        }
        switch selector {
        case .key(let key) where key.isPrimary(of: set.entityType): return key
        case .key:
            throw notAKey(
                text, set, "These properties are an alternate key, which does not contain the key of the entity.")
        case .entityID: throw notAKey(text, set, "It is an address with an entity ID, which only the store knows.")
        }
    }

    /// Returns the key from the content of the parentheses after a navigation property.
    private func contained(_ text: String, _ set: EntitySet) throws -> KeyPredicate? {
        let selector = try KeySelector.parse("(\(text))", of: set.entityType, version: model.version)
        if case .key(let key) = selector { return key }
        return nil
    }

    private func path(_ text: String) throws(URLSyntaxError) -> ResourcePath {
        try ServiceRequest.parse(
            URLText.encoded(text), serviceRoot: root, model: model, version: model.version
        ).path
    }

    private func notAKey(_ text: String, _ set: EntitySet, _ why: String?) -> TidelogError {
        let keys = set.entityType.keyParts.map(\.name)
        let example = keys.count == 1 ? "…" : keys.map { "\($0)=…" }.joined(separator: ",")
        return TidelogError(
            .invalidRequest,
            "'\(URLText.withoutSecrets(text))' does not identify an entity of \(set.name) at the service."
                + (why.map { " \($0)" } ?? ""),
            recovery: "Enter its URL, \(set.name)(\(example)), or the key alone.")
    }

    /// Returns another entity that has the key, in the current or the base state.
    private func owner(
        of key: KeyPredicate, in set: EntitySet, besides id: EntityID, container: EntityID?
    ) throws -> EntityID? {
        if set.isContained {
            guard let container, let other = try state.entity(of: set, key: key, in: container), other != id,
                let row = try state.row(other), KeyPredicate(of: set.entityType, in: row.values) == key
            else { return nil }
            return other
        }
        let values = key.located(in: set.entityType)
        if let other = try state.findRows(set: set.name, where: values).first(where: { $0 != id }) { return other }
        guard let former = try state.entity(set: set.name, key: KeyText.of(key)), former != id,
            let row = try EntityResolver(storage: state, model: model).serviceRow(former),
            KeyPredicate(of: set.entityType, in: row.values) == key
        else { return nil }
        return former
    }
}
