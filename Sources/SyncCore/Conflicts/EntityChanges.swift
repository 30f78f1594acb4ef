import EDM
package import Operations

/// The changes of pending operations to one entity: properties, and partners at to-one ends.
struct EntityChanges {
    /// Properties that updates set.
    private(set) var properties: Set<String> = []
    /// The values of these properties.
    private(set) var values: PropertyValues = [:]
    /// The to-one ends that operations determine, with the navigation property that they use.
    private(set) var ends: [End] = []
    private(set) var deletes = false
    /// Operations that change the service's version of the entity. Operations that only refer to it do not count.
    private(set) var operations: [SequenceNumber] = []

    /// Whether any of the changes are compared with those of other clients.
    var isVisible: Bool { deletes || !properties.isEmpty || !ends.isEmpty }

    struct End {
        let end: MergeBase.Link
        let navigation: String
        /// Operations that change only this link.
        var linkOperations: [SequenceNumber] = []
    }

    init(
        of id: EntityID, in pending: [PendingOperation], _ resolver: EntityResolver<some StateReader>
    ) throws(StateError) {
        for pending in pending { try add(pending, id, resolver) }
    }

    /// Creates the changes of one operation, without its number.
    init(
        by operation: Operation, of id: EntityID, _ resolver: EntityResolver<some StateReader>
    ) throws(StateError) {
        try add(PendingOperation(sequence: 0, time: 0, operation: operation, status: .pending), id, resolver)
    }

    private mutating func add(
        _ pending: PendingOperation, _ id: EntityID, _ resolver: EntityResolver<some StateReader>
    ) throws(StateError) {
        let operation = pending.operation
        guard operation.changes(id) else { return }
        operations.append(pending.sequence)
        // The effect of a call may be on another entity than the bound one.
        guard operation.call == nil || operation.subject == id else { return }
        switch operation.action {
        case .update(_, let changes, let bindings):
            properties.formUnion(changes.names)
            values.merge(changes)
            for binding in bindings { try addEnd(binding.navigation, of: id, pending, resolver) }
        case .delete: deletes = true
        case .createLink(let link), .updateLink(let link), .deleteLink(let link):
            if link.from == id { try addEnd(link.navigation, of: id, pending, resolver) }
            guard link.to == id,
                let end = try resolver.navigation(link.navigation, of: link.from, in: operation)?.navigation,
                end.sourceMultiplicity != .many
            else { return }
            add(end.relationship.reversed, named: end.partner ?? link.navigation, pending)
        case .create: return
        }
    }

    private mutating func addEnd(
        _ navigation: String, of id: EntityID, _ pending: PendingOperation,
        _ resolver: EntityResolver<some StateReader>
    ) throws(StateError) {
        guard let end = try resolver.navigation(navigation, of: id, in: pending.operation)?.navigation,
            end.multiplicity != .many
        else { return }
        add(end.relationship, named: navigation, pending)
    }

    private mutating func add(_ relationship: Relationship, named navigation: String, _ pending: PendingOperation) {
        let end = MergeBase.Link(relationship: relationship.name, isFirst: relationship.isForward, partner: nil)
        let known = ends.firstIndex { $0.end.isSameEnd(end) }
        let position = known ?? ends.count
        if known == nil { ends.append(End(end: end, navigation: navigation)) }
        if case .update = pending.operation.action { return }
        ends[position].linkOperations.append(pending.sequence)
    }
}

extension Operation {
    /// Returns whether the operation changes the entity or its links on the service. Being the target of a binding or
    /// the parent of a new entity is no change.
    package func changes(_ id: EntityID) -> Bool {
        if call?.boundEntity == id { return true }
        return switch action {
        case .update(let entity, _, _), .delete(let entity): entity == id
        case .createLink(let link), .updateLink(let link), .deleteLink(let link): link.from == id || link.to == id
        case .create: false
        }
    }
}

extension EntityResolver {
    /// Returns the comparable part of the entity's base state, or nil if the service does not have the entity.
    func visible(_ id: EntityID, _ index: RelationshipIndex) throws(StateError) -> MergeBase? {
        guard let row = try serviceRow(id), row.origin != .local else { return nil }
        var links: [MergeBase.Link] = []
        for end in index.ends(of: row.set) where end.multiplicity != .many {
            let known =
                end.isFirst
                ? try storage.links(end.relationship, first: id) : try storage.links(end.relationship, second: id)
            let partner = known.first { $0.inBase }.map { end.isFirst ? $0.second : $0.first }
            links.append(.init(relationship: end.relationship, isFirst: end.isFirst, partner: partner))
        }
        return MergeBase(row: row, links: links)
    }
}

extension StateReader {
    /// Returns the pending operations that change the entity, in order. The cost depends neither on the queue nor on
    /// operations that only refer to the entity.
    func pendingChanges(of id: EntityID) throws(StateError) -> [PendingOperation] {
        var found: [PendingOperation] = []
        for sequence in try pendingOperations(changing: id) {
            if let pending = try pendingOperation(sequence) { found.append(pending) }
        }
        return found
    }
}
