public import EDM
public import Operations

/// An entity that another client changed or deleted while local operations on it are pending.
///
/// A conflict has three versions: the base is the service's version when the operations were made, mine is the current
/// state, theirs is the service's version now. Drafts and local-only operations are not part of a conflict; they are
/// compared when they are released.
public struct Conflict: Sendable, Hashable {
    /// The cause of a conflict.
    public enum Cause: Sendable, Hashable {
        /// Both sides changed the entity.
        case changed
        /// The entity was deleted on the service, or left all defining queries, and was changed locally.
        case deletedByOthers
        /// The entity was deleted locally and changed by another client.
        case deletedHere
    }

    /// The three versions of a property.
    public struct PropertyDifference: Sendable, Hashable {
        /// The name of the property.
        public let name: String
        /// The base value. If it is nil, it is unknown, and so is whether another client changed the property.
        public let base: Value?
        /// The pending value; nil if it is unset.
        public let mine: Value?
        /// The value of the service; nil if it is unset.
        public let theirs: Value?
        /// A Boolean value that indicates whether a pending operation sets the property.
        public let isMine: Bool
        /// A Boolean value that indicates whether another client changed the property.
        public let isTheirs: Bool

        /// A Boolean value that indicates whether both sides changed the property to different values.
        public var isOverlapping: Bool { isMine && isTheirs && mine != theirs }
    }

    /// The three versions of a to-one navigation property. Links of to-many properties do not conflict: if one side
    /// adds or removes a link, the other side either did the same or did not change it.
    public struct LinkDifference: Sendable, Hashable {
        /// The name of the navigation property.
        public let navigation: String
        /// The target in the merge base; nil if there is none.
        public let base: EntityID?
        /// The pending target; nil if there is none.
        public let mine: EntityID?
        /// The target at the service; nil if there is none.
        public let theirs: EntityID?
        /// A Boolean value that indicates whether a pending operation changes the link.
        public let isMine: Bool
        /// A Boolean value that indicates whether another client changed the link.
        public let isTheirs: Bool

        /// A Boolean value that indicates whether both sides changed the link to different targets.
        public var isOverlapping: Bool { isMine && isTheirs && mine != theirs }

        /// Operations that change only this link.
        let operations: [SequenceNumber]
    }

    /// The ID of the entity in the store.
    public let entity: EntityID
    /// The display name, such as `Customers(1)`.
    public let name: String
    /// The qualified name of the entity's type.
    public let type: String
    /// The cause of the conflict.
    public let kind: Cause
    /// The properties that either side changed, by name.
    public let properties: [PropertyDifference]
    /// The to-one navigation properties that either side changed.
    public let links: [LinkDifference]
    /// The pending operations that change the entity, in order, without those that are in flight or in doubt.
    public let operations: [SequenceNumber]

    /// A Boolean value that indicates whether the changes of both sides exclude each other.
    public var isOverlapping: Bool {
        kind != .changed || properties.contains(where: \.isOverlapping) || links.contains(where: \.isOverlapping)
    }
}

/// Finds the entities that are in conflict.
package struct ConflictFinder<Storage: StateReader> {
    private let storage: Storage
    private let model: EntityDataModel
    private let index: RelationshipIndex
    private let resolver: EntityResolver<Storage>

    package init(storage: Storage, model: EntityDataModel, index: RelationshipIndex) {
        self.storage = storage
        self.model = model
        self.index = index
        resolver = EntityResolver(storage: storage, model: model)
    }

    /// Returns all conflicts, in order of the entities.
    ///
    /// Items that an operation in flight or in doubt changes are not compared, because the service's change may be the
    /// effect of that operation. On an entity with such an operation, only a change that the pending operations would
    /// overwrite is a conflict; the other differences are reported when the outcome of the operation is known.
    package func conflicts() throws(StateError) -> [Conflict] {
        var found: [Conflict] = []
        for id in try storage.bookkeeping.mergeBases() {
            if let conflict = try conflict(on: id) { found.append(conflict) }
        }
        return found
    }

    package func conflict(on id: EntityID) throws(StateError) -> Conflict? {
        guard let known = try storage.bookkeeping.mergeBase(id), let theirs = try resolver.visible(id, index) else {
            return nil
        }
        let pending = try storage.pendingChanges(of: id)
        let unsettled = try EntityChanges(of: id, in: pending.filter(\.isUnsettled), resolver)
        guard !unsettled.deletes else { return nil }
        let changes = try EntityChanges(of: id, in: pending.filter(\.isDecidable), resolver)
        let keptHere = try EntityChanges(of: id, in: pending.filter { $0.operation.delivery != .queued }, resolver)
        let mergeBase = known.leaving(keptHere, for: changes)
            .omitting(unsettled, index.constraints(ofDependentsIn: theirs.row.set))
        guard !changes.operations.isEmpty, mergeBase.differs(from: theirs) else { return nil }
        let isGone = !theirs.row.origin.isOnService
        let properties = try properties(mergeBase, theirs, changes, keptHere)
        let links = try links(mergeBase, theirs, changes)
        switch (changes.deletes, isGone) {
        case (true, true): return nil
        case (false, false) where changes.properties.isEmpty && changes.ends.isEmpty: return nil
        default: break
        }
        let conflict = Conflict(
            entity: id, name: try storage.name(of: id, model), type: theirs.row.type,
            kind: changes.deletes ? .deletedHere : isGone ? .deletedByOthers : .changed, properties: properties,
            links: links, operations: changes.operations)
        return unsettled.isVisible && (isGone || !conflict.isOverlapping) ? nil : conflict
    }

    private func properties(
        _ base: MergeBase, _ theirs: MergeBase, _ changes: EntityChanges, _ keptHere: EntityChanges
    ) throws(StateError) -> [Conflict.PropertyDifference] {
        let local = try storage.row(base.id)
        let isGone = !theirs.row.origin.isOnService
        let theirNames = base.row.values.names.filter { name in
            theirs.row.values[name].map { $0 != base.row.values[name] } ?? false
        }
        return Set(theirNames).union(changes.properties).sorted().map { name in
            let isMine = changes.properties.contains(name)
            let base = base.row.values[name]
            let now = isGone ? nil : theirs.row.values[name]
            // If a draft changes the property too, the current value is not the one that would be sent.
            let set = keptHere.properties.contains(name) ? changes.values[name] : local?.values[name]
            return Conflict.PropertyDifference(
                name: name, base: base, mine: local == nil ? nil : isMine ? set : base, theirs: now,
                isMine: isMine, isTheirs: !isGone && base != nil && now != base)
        }
    }

    private func links(
        _ base: MergeBase, _ theirs: MergeBase, _ changes: EntityChanges
    ) throws(StateError) -> [Conflict.LinkDifference] {
        var found: [Conflict.LinkDifference] = []
        for end in theirs.links {
            let known = base.partner(end)
            let mine = changes.ends.first { $0.end.isSameEnd(end) }
            let isTheirs = known.map { $0.partner != end.partner } ?? false
            guard mine != nil || isTheirs, let navigation = mine?.navigation ?? name(of: end, theirs.row) else {
                continue
            }
            let local =
                end.isFirst
                ? try storage.links(end.relationship, first: base.id)
                : try storage.links(end.relationship, second: base.id)
            let partner = local.first { $0.inLocal }.map { end.isFirst ? $0.second : $0.first }
            found.append(
                Conflict.LinkDifference(
                    navigation: navigation, base: known?.partner, mine: mine == nil ? known?.partner : partner,
                    theirs: end.partner, isMine: mine != nil, isTheirs: isTheirs,
                    operations: mine?.linkOperations ?? []))
        }
        return found
    }

    /// Returns the navigation property, or nil if the entity's type has none for this end. Then no local operation can
    /// change it either.
    private func name(of end: MergeBase.Link, _ row: EntityRow) -> String? {
        model.findEntityType(row.type)?.navigationProperties.first {
            $0.navigation?.relationship == Relationship(name: end.relationship, isForward: end.isFirst)
        }?.name
    }
}

extension PendingOperation {
    /// Whether the service may have processed the operation, and the outcome is unknown.
    var isUnsettled: Bool {
        switch status {
        case .inFlight, .inDoubt: true
        default: false
        }
    }

    /// Whether a conflict resolution concerns the operation: it is to be sent, and the service has not processed it.
    var isDecidable: Bool { operation.delivery == .queued && !isUnsettled }
}
