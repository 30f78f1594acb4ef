import EDM
import ODataQuery
import ODataWire
import Operations

/// Contained entities. They are identified by their container and their key below it.
extension ImageBuilder {
    /// Returns the container of an entity: its parent in the payload, or the entity that its URLs or the request path
    /// name. Nil if none of these is known.
    func container(
        of payload: EntityPayload, in set: EntitySet, known: EntityID?, below parent: EntityID?
    ) throws(StateError) -> EntityID? {
        guard set.isContained else { return nil }
        if let parent { return parent }
        if let known { return try storage.container(of: known, in: set) }
        for url in [payload.id, payload.editLink] {
            guard let path = url.flatMap(links.containmentPath), path.set == set, let parent = path.parent else {
                continue
            }
            if let found = try entity(at: parent) { return found }
        }
        return places[set.name]
    }

    /// Returns whether the entity is in the store or new on this page.
    private func isThere(_ id: EntityID) throws(StateError) -> Bool {
        if isNew(id) { return true }
        return try storage.row(id) != nil
    }

    /// Returns the entity at a path, if it is in the store or new on this page.
    func entity(at path: ContainmentPath) throws(StateError) -> EntityID? {
        try path.entity { set, key, parent throws(StateError) in try find(set, key, in: parent) }
    }

    private func find(_ set: EntitySet, _ key: KeyPredicate?, in parent: EntityID?) throws(StateError) -> EntityID? {
        guard set.isContained else {
            if let id = assigned[set.name, key.map(KeyText.of) ?? ""] { return id }
            let names = EntityNames(storage: storage, model: model, serviceRoot: "")
            guard let key else { return try storage.rows(set: set.name).first }
            return try names.entity(set: set.name, key: key)
        }
        guard let parent else { return nil }
        if let id = assigned[set.name, ContainedKey.text(parent, key.map(KeyText.of))] { return id }
        return isNew(parent) ? nil : try storage.entity(of: set, key: key, in: parent)
    }

    /// Returns the existing entity with the key below `parent`, which may have been created locally.
    mutating func containedRow(
        _ set: EntitySet, key: String?, in parent: EntityID
    ) throws(StateError) -> EntityID? {
        guard !isNew(parent), let relationship = set.containment?.relationship else { return nil }
        let end = LinkEnd(entity: parent, relationship: relationship)
        if children[end] == nil {
            var found: [ExactText: EntityID] = [:]
            for id in try storage.contained(in: parent, set) {
                guard let row = try storage.row(id), row.set == set.name else { continue }
                let own = model.findEntityType(row.type).flatMap { KeyText.of(row.values, type: $0) }
                guard own != nil || set.isContainedSingle else { continue }
                found[ExactText(set.isContainedSingle ? "" : own ?? "")] = id
            }
            children[end] = found
        }
        return children[end]?[ExactText(set.isContainedSingle ? "" : key ?? "")]
    }

    /// Creates the unknown entities of a path with the keys that the path contains.
    ///
    /// - Returns: The entities along the path, and the links to the new ones. Nil if the path does not identify the
    ///   entities.
    mutating func entities(
        along path: ContainmentPath, to images: inout [EntityImage]
    ) throws(StateError) -> (entities: [EntityID], links: [DownloadPage.ChangedLink])? {
        var found: [EntityID] = []
        var added: [DownloadPage.ChangedLink] = []
        for step in path.steps {
            guard step.isEntity else { return nil }
            var values: PropertyValues = [:]
            var key: KeyPredicate?
            switch step.key {
            case .entityID: return nil
            case .key(let named): (key, values) = (named, named.properties(of: step.set.entityType))
            case nil: break
            }
            if let id = try find(step.set, key, in: found.last), try isThere(id) {
                found.append(id)
                continue
            }
            let id = try add(EntityPayload(values: values), in: step.set, below: found.last, to: &images)
            guard let id else { return nil }
            if let parent = found.last, let navigation = step.set.containment?.navigation {
                added.append(.init(source: parent, navigation: navigation.name, target: id, isAdded: true))
            }
            found.append(id)
        }
        return (found, added)
    }

    /// Returns the set that a context URL names by a path, such as `People('ann')/Trips`, and remembers the container
    /// for entities without one.
    mutating func place(named name: String) throws(StateError) -> EntitySet? {
        guard let path = links.containmentPath(in: name), path.set.isContained else { return nil }
        if let parent = try path.parent.flatMap({ p throws(StateError) in try entity(at: p) }) {
            places[path.set.name] = parent
        }
        return path.set
    }
}
