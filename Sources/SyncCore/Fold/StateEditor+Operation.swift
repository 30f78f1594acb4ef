import EDM
import Operations

extension StateEditor {
    /// Applies an operation to the editor's layer.
    mutating func apply(_ operation: Operation) throws(StateError) {
        switch operation.action {
        case .create(let creation, let parent):
            guard let parent else { return try create(creation) }
            let owner = try storage.type(of: parent.entity)
            try create(
                creation,
                through: try owner.flatMap { type throws(StateError) in
                    try navigation(parent.navigation, of: type)?.navigation
                })
            try link(from: parent.entity, parent.navigation, to: creation.entity)
        case .update(let entity, let changes, let bindings):
            try update(entity, changes: changes, bindings: bindings)
        case .delete(let entity):
            try delete(entity)
        case .createLink(let link), .updateLink(let link):
            try self.link(from: link.from, link.navigation, to: link.to)
        case .deleteLink(let link):
            try unlink(from: link.from, link.navigation, to: link.to)
        }
    }

    /// Applies images of the service with their links. Only in the base layer.
    mutating func apply(_ images: [EntityImage], isAnswer: Bool) throws(StateError) {
        // By index, because a loop over the elements copies each image.
        for place in images.indices { try apply(images[place], isAnswer: isAnswer) }
        for place in images.indices where !images[place].links.isEmpty { try applyLinks(images[place]) }
    }

    /// Applies an image of the service. Only in the base layer.
    ///
    /// - Parameter isAnswer: Whether the image is the result of a local operation. In this case the dependent
    ///   properties of an entity that loses its place at a to-one end become null. Any other image changes no values of
    ///   other entities.
    mutating func apply(_ image: EntityImage, isAnswer: Bool) throws(StateError) {
        guard let metadata = storage.metadata(set: image.set, type: image.type) else { return }
        try storage.register(image.entity, set: image.set)
        let type = metadata.type
        let known = try storage.row(image.entity)
        var row =
            known
            ?? EntityRow(
                id: image.entity, metadata.kind.with(set: image.set, type: image.type), values: image.values,
                etag: image.etag, editLink: image.editLink, origin: .service)
        if known != nil {
            try TypeChange.apply(image, type, to: &row, &self)
            row.values.merge(image.values)
            row.etag = image.etag ?? row.etag
            row.editLink = image.editLink ?? row.editLink
            if row.origin != .serviceWithStaleETag || !image.isKeyOnly(type) { row.origin = .service }
        }
        // If pending changes are watched or changes are tracked, equal rows are stored too.
        let skipsEqualRows = storage.kind == .baseWithoutPending && !watchesBase && !notesTouched
        let isEqual = if let known, download != nil || skipsEqualRows { known == row } else { false }
        if let download, !isEqual { row.downloaded = download }
        // The download of known entities writes nothing. Equal values may differ in their notation: 1.5 and 1.50.
        if !isEqual || !skipsEqualRows || !row.values.hasSameNotation(as: known?.values ?? [:]) { try put(row) }
        if let name = image.editLink {
            try storage.assignKey(set: EntityNames<WorkingSet>.namesSet, key: name, to: row.id)
        }
        try assignKey(of: row, metadata)
        // The set of an entity is the one with which it was first registered.
        let isInSet = row.set == image.set
        for constraint in isInSet ? metadata.dependents : index.constraints(ofDependentsIn: row.set)
        where isChanged(constraint, from: known, to: image.values, besides: metadata.namesPartner) {
            try synchronizeDependent(row, constraint, clearing: isAnswer)
        }
        if metadata.isPrincipal || !isInSet { try synchronizePrincipal(row.id, clearing: isAnswer) }
    }

    private func assignKey(of row: EntityRow, _ metadata: KindMetadata) throws(StateError) {
        let key = KeyText.of(row.values, type: metadata.type)
        // An entity without a container gets its key together with the link.
        if metadata.set.isContained { return try assignContainedKey(key, of: row.id, in: metadata.set) }
        if let key { try storage.assignKey(set: metadata.set.name, key: key, to: row.id) }
    }

    /// Returns whether an image changes the dependent properties of a constraint.
    ///
    /// - Parameters:
    ///   - row: The row before the change. If it is nil or has no values, all values of the image are changes.
    ///   - namesPartner: The properties that refer to a to-one end. If several entities refer to the same one,
    ///     the link belongs to the entity that the service returned last. Therefore they always count as changed.
    private func isChanged(
        _ constraint: RelationshipIndex.Constraint, from row: EntityRow?, to values: PropertyValues,
        besides namesPartner: Set<String>
    ) -> Bool {
        constraint.pairs.contains { pair in
            guard let value = values[pair.dependent] else { return false }
            guard let row, !row.values.isEmpty else { return true }
            return namesPartner.contains(pair.dependent) || row.values[pair.dependent] != value
        }
    }

    /// Applies the links of an image, after all entities that it contains exist.
    mutating func applyLinks(_ image: EntityImage) throws(StateError) {
        guard let row = try storage.row(image.entity) else { return }
        for links in image.links {
            guard let end = try navigation(links.navigation, of: row.type)?.navigation else { continue }
            // Dependent properties, if any, determine the link; an expansion may be older than they are.
            let hasConstraint = !end.constraints.isEmpty || !end.inverseConstraints.isEmpty
            // A contained entity loses its link only when it is removed, which depends on the queries.
            if links.isComplete, !hasConstraint, !end.containsTarget {
                for link in try storage.links(of: row.id, along: end)
                where !links.targets.contains(link.target(along: end)) {
                    try unlink(link, clearing: false)
                }
            }
            for target in links.targets { try link(from: row.id, links.navigation, to: target) }
        }
    }

    /// Applies a link that the service reports as added or removed. Only in the base layer.
    mutating func apply(_ link: DownloadPage.ChangedLink) throws(StateError) {
        if link.isAdded {
            if let target = link.target { try self.link(from: link.source, link.navigation, to: target) }
            return
        }
        guard let row = try storage.row(link.source),
            let end = try navigation(link.navigation, of: row.type)?.navigation
        else { return }
        for known in try storage.links(of: row.id, along: end)
        where known.inLocal && (link.target == nil || known.target(along: end) == link.target) {
            try unlink(known, clearing: false)
        }
    }

    /// Removes an entity that the service no longer has or no defining query covers. Only in the base layer.
    ///
    /// An entity with pending operations stays and is marked: a local change remains visible if another client deleted
    /// the entity.
    mutating func removeFromBase(_ id: EntityID, hasPending: Bool) throws(StateError) {
        guard var row = try storage.row(id) else { return }
        var isKept = hasPending
        // Contained entities are removed with it. One that has to stay, because operations on it are pending, keeps it.
        for child in try containedEntities(of: row) {
            try removeFromBase(child, hasPending: try storage.state.hasPendingChange(of: child))
            if try storage.row(child) != nil { isKept = true }
        }
        if isKept {
            row.origin = .gone
            try put(row)
        } else {
            // Dependent entities keep their references until the service reports other values: no delta would restore
            // them, and the entity may have left only this store.
            try remove(id, clearing: false)
            if let other = try lookup.successor(of: row) { try synchronizePrincipal(other, clearing: false) }
        }
    }

    // MARK: Containment

    private func containedEntities(of row: EntityRow) throws(StateError) -> [EntityID] {
        guard let set = model.findEntitySet(row.set) else { return [] }
        var found: [EntityID] = []
        for contained in model.containedSets(in: set) {
            guard let end = contained.containment?.navigation.navigation else { continue }
            found += try storage.links(of: row.id, along: end).filter(\.inLocal).map { $0.target(along: end) }
        }
        return found
    }

    /// Assigns the key of a contained entity in the key map when the link to its container exists. Only in the base
    /// layer.
    func assignContainedKey(_ key: String?, of id: EntityID, in set: EntitySet) throws(StateError) {
        guard let relationship = set.containment?.relationship, key != nil || set.isContainedSingle else { return }
        let links =
            relationship.isForward
            ? try storage.links(relationship.name, second: id) : try storage.links(relationship.name, first: id)
        guard let link = links.first(where: \.inLocal) else { return }
        let parent = relationship.isForward ? link.first : link.second
        try storage.assignKey(
            set: set.name, key: ContainedKey.text(parent, set.isContainedSingle ? nil : key), to: id)
    }

    /// Assigns the key of a contained entity after a new link to its container.
    func assignContainedKey(_ end: Navigation, from source: EntityID, to target: EntityID) throws(StateError) {
        guard layer == .base, end.containsTarget, let row = try storage.row(target),
            let set = model.findEntitySet(row.set), set.isContained, let type = model.findEntityType(row.type)
        else { return }
        try assignContainedKey(KeyText.of(row.values, type: type), of: target, in: set)
    }
}

extension PropertyValues {
    /// Returns whether the values are key properties only, or there are none.
    func areKey(of type: EntityType) -> Bool {
        count <= type.keyProperties.count
            && names.allSatisfy { name in type.keyProperties.contains { $0.name == name } }
    }

    fileprivate func hasSameNotation(as other: PropertyValues) -> Bool {
        hasSameEncoding(as: other) || ValueCodec.encode(self) == ValueCodec.encode(other)
    }
}

extension EntityImage {
    /// Returns whether the image has only a key, such as one that a user entered. Then it does not show whether the ETag
    /// is still valid.
    func isKeyOnly(_ type: EntityType) -> Bool { etag == nil && values.areKey(of: type) }
}
