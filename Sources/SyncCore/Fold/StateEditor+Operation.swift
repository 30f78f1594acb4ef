import EDM
import ODataWire
import Operations

extension StateEditor {
    /// Carries out an operation in the editor's layer.
    mutating func apply(_ operation: Operation) throws(StateError) {
        switch operation.action {
        case .create(let creation, let parent):
            guard let parent else { return try create(creation) }
            let owner = try storage.row(parent.entity, reading: .readsExistence)
            try create(
                creation,
                through: try owner.flatMap { o throws(StateError) in
                    try navigation(parent.navigation, of: o)?.navigation
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

    /// Takes over what the service said of entities, and how they are linked. Only in the base layer.
    mutating func apply(_ images: [EntityImage], isAnswer: Bool) throws(StateError) {
        for image in images { try apply(image, isAnswer: isAnswer) }
        for image in images where !image.links.isEmpty { try applyLinks(image) }
    }

    /// Takes over what the service said of an entity. Only in the base layer.
    ///
    /// - Parameter isAnswer: whether it is what an operation of ours made of the entity: then whoever it pushes out names
    ///   nobody any more. Otherwise what the service says of one entity changes no values of another.
    mutating func apply(_ image: EntityImage, isAnswer: Bool) throws(StateError) {
        guard let kind = kind(of: image) else { return }
        try storage.register(image.entity, set: image.set)
        let type = kind.type
        let known = try storage.row(image.entity)
        var row =
            known ?? EntityRow(id: image.entity, set: image.set, type: image.type, values: [:], origin: .service)
        let namesPartner = kind.namesPartner
        // Of several that name the same single place it belongs to the one that the service named last, so these count as
        // changed each time.
        let changed =
            row.values.isEmpty
            ? image.values.names
            : image.values.names.filter { row.values[$0] != image.values[$0] || namesPartner.contains($0) }
        row.type = image.type
        row.values.merge(image.values)
        row.etag = image.etag ?? row.etag
        row.editLink = image.editLink ?? row.editLink
        // Who tells nothing but the key, as a person who looked it up, has not told whether the ETag is still the same.
        let isKeyOnly =
            image.etag == nil && image.values.count <= type.keyProperties.count
            && image.values.names.allSatisfy { name in type.keyProperties.contains { $0.name == name } }
        if row.origin != .serviceWithStaleETag || !isKeyOnly { row.origin = .service }
        if let download, row != known { row.downloaded = download }
        if !isWritten(known, row) { try put(row) }
        if let name = image.editLink {
            try storage.assignKey(set: EntityNames<WorkingSet>.namesSet, key: name, to: row.id)
        }
        try assignKey(of: row, type, in: image.set)
        try synchronizeDependent(row, changed: changed, clearing: isAnswer)
        // An entity's set is that with which it was registered first.
        if kind.isPrincipal || row.set != kind.set { try synchronizePrincipal(row.id, clearing: isAnswer) }
    }

    private func assignKey(of row: EntityRow, _ type: EntityType, in set: String) throws(StateError) {
        let key = KeyText.of(row.values, type: type)
        // One that nothing contains yet gets it with the link.
        if let contained = model.findEntitySet(set), contained.isContained {
            return try assignContainedKey(key, of: row.id, in: contained)
        }
        if let key { try storage.assignKey(set: set, key: key, to: row.id) }
    }

    /// Whether the row stands as it is, so that a download that brings again what was there writes nothing.
    private func isWritten(_ known: EntityRow?, _ row: EntityRow) -> Bool {
        guard let known, storage.kind == .bareBase, !watchesBase, !notesTouched, known == row else { return false }
        // Equal is not the same: 1.5 and 1.50.
        return ValueCodec.encode(known.values) == ValueCodec.encode(row.values)
    }

    /// Takes over the links that came with an image, once all the entities that it names are there.
    mutating func applyLinks(_ image: EntityImage) throws(StateError) {
        guard let row = try storage.row(image.entity) else { return }
        for links in image.links {
            guard let end = try navigation(links.navigation, of: row)?.navigation else { continue }
            // Where dependent properties exist they say who is linked; an expansion may be older than they are.
            let hasConstraint = !end.constraints.isEmpty || !end.inverseConstraints.isEmpty
            // A contained entity loses its link only when it goes itself, and whether it does the queries decide.
            if links.isComplete, !hasConstraint, !end.containsTarget {
                for link in try storage.links(of: row.id, along: end)
                where !links.targets.contains(link.target(along: end)) {
                    try unlink(link, clearing: false)
                }
            }
            for target in links.targets { try link(from: row.id, links.navigation, to: target) }
        }
    }

    /// Takes over a link that the service reports as added or removed. Only in the base layer.
    mutating func apply(_ link: DownloadPage.ChangedLink) throws(StateError) {
        if link.isAdded {
            if let target = link.target { try self.link(from: link.source, link.navigation, to: target) }
            return
        }
        guard let row = try storage.row(link.source),
            let end = try navigation(link.navigation, of: row)?.navigation
        else { return }
        for known in try storage.links(of: row.id, along: end)
        where known.inLocal && (link.target == nil || known.target(along: end) == link.target) {
            try unlink(known, clearing: false)
        }
    }

    /// The service no longer holds the entity, or no defining query brings it. Only in the base layer.
    ///
    /// Where operations on it are pending it stays, marked: an edit is not lost from sight because somebody else deleted
    /// what it was made on.
    mutating func removeFromBase(_ id: EntityID, hasPending: Bool) throws(StateError) {
        guard var row = try storage.row(id) else { return }
        var isKept = hasPending
        // What it contains goes with it, and what cannot go, for what is pending on it, keeps it here.
        for child in try containedEntities(of: row) {
            try removeFromBase(child, hasPending: try storage.state.hasPendingChange(of: child))
            if try storage.row(child) != nil { isKept = true }
        }
        if isKept {
            row.origin = .gone
            try put(row)
        } else {
            // Who names it goes on doing so as long as the service says nothing else: no delta would bring the name back,
            // and the entity may have left this store only.
            try remove(id, clearing: false)
        }
    }

    // MARK: Containment

    private func containedEntities(of row: EntityRow) throws(StateError) -> [EntityID] {
        guard let set = model.findEntitySet(row.set) else { return [] }
        var found: [EntityID] = []
        for contained in model.containedSets(in: set) {
            guard let end = contained.containment?.navigation.navigation else { continue }
            let name = end.relationship.name
            let links =
                end.relationship.isForward
                ? try storage.links(name, first: row.id) : try storage.links(name, second: row.id)
            found += links.filter(\.inLocal).map { $0.target(along: end) }
        }
        return found
    }

    /// Gives a contained entity its place in the key map, as soon as the link to the one that contains it is there. Only in
    /// the base layer.
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

    /// Follows a new link where it is that of a contained entity to the one that contains it.
    func assignContainedKey(_ end: Navigation, from source: EntityID, to target: EntityID) throws(StateError) {
        guard layer == .base, end.containsTarget, let row = try storage.row(target),
            let set = model.findEntitySet(row.set), set.isContained, let type = model.findEntityType(row.type)
        else { return }
        try assignContainedKey(KeyText.of(row.values, type: type), of: target, in: set)
    }
}
