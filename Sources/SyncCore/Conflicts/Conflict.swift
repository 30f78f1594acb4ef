public import EDM
public import Operations

/// An entity that somebody else changed, or deleted, while operations on it are pending here.
///
/// Three versions stand side by side: the base is what the service had when the operations were made, mine is the local
/// state, theirs is what the service has now. Drafts, and what is for this store only, are in no conflict: those are compared
/// when they are released.
public struct Conflict: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// Both changed it.
        case changed
        /// It is deleted at the service, or in no defining query any more, and changed here.
        case deletedByOthers
        /// It is deleted here and was changed by others.
        case deletedHere
    }

    /// Two sides of a property.
    public struct PropertyDifference: Sendable, Hashable {
        public let name: String
        /// Nil where it is not known; then nobody can tell whether others changed it.
        public let base: Value?
        public let mine: Value?
        public let theirs: Value?
        /// Whether a pending operation sets it.
        public let isMine: Bool
        /// Whether others changed it.
        public let isTheirs: Bool

        /// Whether both changed it, and not to the same.
        public var isOverlapping: Bool { isMine && isTheirs && mine != theirs }
    }

    /// Two sides of a navigation property that leads to one entity at most. Links of others do not conflict: what one side
    /// adds or removes, the other side has added or removed as well, or left alone.
    public struct LinkDifference: Sendable, Hashable {
        public let navigation: String
        public let base: EntityID?
        public let mine: EntityID?
        public let theirs: EntityID?
        public let isMine: Bool
        public let isTheirs: Bool

        public var isOverlapping: Bool { isMine && isTheirs && mine != theirs }

        /// Operations that say this link and nothing else.
        let operations: [SequenceNumber]
    }

    public let entity: EntityID
    /// As a person knows it: `Customers(1)`.
    public let name: String
    /// The qualified name of the entity's type.
    public let type: String
    public let kind: Kind
    /// What either side changed, by name.
    public let properties: [PropertyDifference]
    public let links: [LinkDifference]
    /// The pending operations that change the entity, in order.
    public let operations: [SequenceNumber]

    /// Whether the two sides cannot both have what they want.
    public var isOverlapping: Bool {
        kind != .changed || properties.contains(where: \.isOverlapping) || links.contains(where: \.isOverlapping)
    }
}

/// Finds the entities that are in conflict.
public struct ConflictFinder<Storage: StateReader> {
    private let storage: Storage
    private let model: EntityDataModel
    private let index: RelationshipIndex
    private let resolver: EntityResolver<Storage>

    public init(storage: Storage, model: EntityDataModel, index: RelationshipIndex) {
        self.storage = storage
        self.model = model
        self.index = index
        resolver = EntityResolver(storage: storage, model: model)
    }

    /// All conflicts, by entity. Those on which an operation is on its way or in doubt are left out: what the service says may
    /// be that operation's own doing. Not that of one that links it in a collection, of which nothing is compared.
    public func conflicts() throws(StateError) -> [Conflict] {
        var found: [Conflict] = []
        for id in try storage.ancestors() { if let conflict = try conflict(on: id) { found.append(conflict) } }
        return found
    }

    public func conflict(on id: EntityID) throws(StateError) -> Conflict? {
        guard let known = try storage.ancestor(id), let theirs = try resolver.visible(id, index) else { return nil }
        let pending = try storage.pendingChanges(of: id)
        let unsettled = try EntityChanges(of: id, in: pending.filter(\.isUnsettled), resolver)
        guard !unsettled.isVisible else { return nil }
        let changes = try EntityChanges(of: id, in: pending.filter { $0.operation.delivery == .queued }, resolver)
        let keptHere = try EntityChanges(of: id, in: pending.filter { $0.operation.delivery != .queued }, resolver)
        let ancestor = known.leaving(keptHere, for: changes)
        guard !changes.operations.isEmpty, ancestor.differs(from: theirs) else { return nil }
        let isGone = !theirs.row.origin.isOnService
        let properties = try properties(ancestor, theirs, changes, keptHere)
        let links = try links(ancestor, theirs, changes)
        switch (changes.deletes, isGone) {
        case (true, true): return nil
        case (false, false) where changes.properties.isEmpty && changes.ends.isEmpty: return nil
        default: break
        }
        return Conflict(
            entity: id, name: try storage.name(of: id, model), type: theirs.row.type,
            kind: changes.deletes ? .deletedHere : isGone ? .deletedByOthers : .changed, properties: properties,
            links: links, operations: changes.operations)
    }

    private func properties(
        _ base: Ancestor, _ theirs: Ancestor, _ changes: EntityChanges, _ keptHere: EntityChanges
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
            // Where a draft lies on top, the local value is not the one that would be sent.
            let set = keptHere.properties.contains(name) ? changes.values[name] : local?.values[name]
            return Conflict.PropertyDifference(
                name: name, base: base, mine: local == nil ? nil : isMine ? set : base, theirs: now,
                isMine: isMine, isTheirs: !isGone && base != nil && now != base)
        }
    }

    private func links(
        _ base: Ancestor, _ theirs: Ancestor, _ changes: EntityChanges
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

    /// Nil where the entity's type has no navigation property there: then nobody here can change it either.
    private func name(of end: Ancestor.Link, _ row: EntityRow) -> String? {
        model.findEntityType(row.type)?.navigationProperties.first {
            $0.navigation?.relationship == Relationship(name: end.relationship, isForward: end.isFirst)
        }?.name
    }
}

extension PendingOperation {
    /// Whether the service may have it, and nobody knows yet.
    var isUnsettled: Bool {
        switch status {
        case .inFlight, .inDoubt: true
        default: false
        }
    }
}
