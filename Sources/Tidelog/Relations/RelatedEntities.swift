import EDM
import OfflineStore
import Operations

/// The cached targets of one navigation property of an entity object: as read, and as changed by the app.
///
/// Never refers to the entity that owns it, to avoid a reference cycle.
final class RelatedEntities {
    /// The targets as read; `nil` before.
    var base: [EntityValue]?
    /// The targets as the app sees them. If `base` is `nil`, only those that the app has added.
    private(set) var list: [EntityValue] { didSet { (members, view) = (nil, .unknown) } }
    /// The identities of the objects in ``list``, computed on demand.
    private var members: Set<ObjectIdentifier>?
    /// The targets as read before the relation was invalidated.
    private var former: [EntityValue] = []
    private(set) var edit: Edit
    /// The ID of the target, if the app has set the target by ID.
    private(set) var targetID: EntityID?
    /// A target that was set and has been saved. Weak, because it may refer to the owner.
    private weak var saved: EntityValue?
    /// The error of the last read.
    var failure: TidelogError? {
        get { storedFailure?.error }
        set { storedFailure = newValue.map(StoredError.init) }
    }
    /// The error that made the targets unknown when some were to be removed. Thrown when the relation is saved.
    private(set) var obstacle: TidelogError? {
        get { storedObstacle?.error }
        set { storedObstacle = newValue.map(StoredError.init) }
    }
    private var storedFailure: StoredError?
    private var storedObstacle: StoredError?

    /// An error, which few relations have. A reference, because an error is large to initialize and to destroy.
    private final class StoredError {
        let error: TidelogError

        init(_ error: TidelogError) { self.error = error }
    }

    enum Edit {
        /// No change since it was read or saved.
        case none
        /// Set as a whole: the target, or all targets of a new entity.
        case replaced
        /// Targets were added or removed.
        case changed
    }

    init(base: [EntityValue]? = nil) {
        self.base = base
        list = base ?? []
        edit = .none
    }

    init(replacing list: [EntityValue], targetID: EntityID? = nil, base: [EntityValue]? = nil) {
        self.base = base
        self.list = list
        self.targetID = targetID
        edit = .replaced
    }

    /// The state that remains when a relation is assigned as a whole: the targets as read, and those of other
    /// classes.
    struct LoadedTargets {
        fileprivate let base: [EntityValue]?
        fileprivate let otherClassTargets: [EntityValue]
        fileprivate let former: [EntityValue]
    }

    /// Returns this state. It does not retain the list, so that the list can be mutated in place.
    func reading<Entity: EntityValue>(besides type: Entity.Type) -> LoadedTargets {
        LoadedTargets(base: base, otherClassTargets: otherClassTargets(to: type), former: former)
    }

    init(_ reading: LoadedTargets) {
        base = reading.base
        list = reading.otherClassTargets
        former = reading.former
        // They are kept even if the other targets are read later.
        edit = reading.otherClassTargets.isEmpty ? .none : .changed
    }

    func copy() -> RelatedEntities {
        let copy = RelatedEntities(base: base)
        copy.list = list
        copy.edit = edit
        copy.targetID = targetID
        copy.saved = saved
        copy.former = former
        copy.failure = failure
        copy.obstacle = obstacle
        return copy
    }

    /// Updates the relation from the targets that were read. Unsaved changes are kept, also those in objects among
    /// the targets.
    func resolve(_ read: [EntityValue]) {
        let found = keepingEdited(read)
        switch edit {
        case .none: list = found
        case .replaced: break
        case .changed:
            let (added, removed) = (added, removed)
            let gone = Set(removed.map(EntityIdentity.init))
            let known = Set(found.map(EntityIdentity.init))
            list =
                found.filter { !gone.contains(EntityIdentity($0)) }
                + added.filter { !known.contains(EntityIdentity($0)) }
        }
        (base, saved, former) = (found, nil, [])
        (failure, obstacle) = (nil, nil)
    }

    private func keepingEdited(_ read: [EntityValue]) -> [EntityValue] {
        let edited = (former + (base ?? []) + list).filter(\.isEdited)
        if edited.isEmpty { return read }
        let objects = Dictionary(edited.map { (EntityIdentity($0), $0) }, uniquingKeysWith: { $1 })
        return read.map { objects[EntityIdentity($0)] ?? $0 }
    }

    /// Sets the target that was read by its ID.
    func resolve(targetID target: EntityValue) {
        list = [target]
        failure = nil
    }

    /// Changes the targets of the class. Targets of other classes are kept after them.
    ///
    /// - Parameter takesOut: whether the change removes targets, which requires that they are known.
    func change<Entity: EntityValue>(
        _ type: Entity.Type, takesOut: Bool, _ body: (inout [EntityValue]) -> Void
    ) {
        if takesOut, !isResolved { obstacle = obstacle ?? failure }
        let otherClassTargets = otherClassTargets(to: type)
        if !otherClassTargets.isEmpty { list = entities(of: type) }
        body(&list)
        if otherClassTargets.isEmpty { view = .all(type) } else { list += otherClassTargets }
        if edit == .none { edit = .changed }
    }

    func replace(_ entities: [EntityValue], targetID: EntityID? = nil) {
        list = entities
        self.targetID = targetID
        edit = .replaced
    }

    /// Sets the target of a single-valued relation. Setting the target as read is no change.
    func choose(_ target: EntityValue?) {
        let new = target.map(EntityIdentity.init)
        if let base, base.first.map(EntityIdentity.init) == new {
            (list, targetID, edit) = (target.map { [$0] } ?? [], nil, .none)
        } else {
            replace(target.map { [$0] } ?? [])
        }
    }

    /// The targets as read or saved before the app changed them; `nil` if unknown.
    var read: [EntityValue]? { base ?? saved.map { [$0] } }
    /// The known target of a single-valued relation. Does not read.
    var target: EntityValue? { list.first ?? (edit == .none ? saved : nil) }
    var isResolved: Bool { base != nil || edit == .replaced || saved != nil }

    /// The targets as the app sees them, each entity once.
    var distinctTargets: [EntityValue] {
        guard list.count > 1 else { return list }
        var known: Set<EntityIdentity> = []
        return list.filter { known.insert(EntityIdentity($0)).inserted }
    }

    /// Returns whether this object is a target, by object identity.
    func contains(_ entity: EntityValue) -> Bool {
        let known = members ?? Set(list.map(ObjectIdentifier.init))
        members = known
        return known.contains(ObjectIdentifier(entity))
    }

    /// Returns a copy without cached targets, which is read again on access. Existing copies are not changed.
    func outdated() -> RelatedEntities {
        let outdated = RelatedEntities()
        outdated.former = list
        return outdated
    }

    /// The targets added since the relation was read, each entity once.
    var added: [EntityValue] {
        guard edit != .none else { return [] }
        var known = Set((read ?? []).map(EntityIdentity.init))
        return list.filter { known.insert(EntityIdentity($0)).inserted }
    }

    /// The targets removed since the relation was read.
    var removed: [EntityValue] {
        guard edit != .none, let read, !read.isEmpty else { return [] }
        let kept = Set(list.map(EntityIdentity.init))
        return read.filter { !kept.contains(EntityIdentity($0)) }
    }

    /// Marks the changes as saved.
    ///
    /// - Parameter isShared: whether the targets may refer to the owner.
    func markSaved(isSingle: Bool, isShared: Bool) {
        guard edit != .none else { return }
        let wasComplete = base != nil || edit == .replaced
        edit = .none
        // The store has each link once, even if the app added it several times.
        if list.count > 1 { list = distinctTargets }
        if isSingle, isShared || targetID != nil && list.isEmpty {
            saved = list.first
            (base, list, targetID) = (nil, [], nil)
            return
        }
        (saved, targetID) = (nil, nil)
        if wasComplete {
            base = list
        } else {
            list = []
        }
    }

    /// Replaces the strong reference to the target by a weak one.
    func weaken() {
        guard edit == .none, let target = list.first else { return }
        saved = target
        (base, list) = (nil, [])
    }

    /// Discards the targets and the changes.
    func discard() {
        (edit, targetID, former, obstacle) = (.none, nil, [], nil)
        unload()
    }

    // MARK: Classes

    /// The cached subset of ``list`` that is of a class.
    private enum View {
        case unknown
        case all(EntityValue.Type)
        case some(EntityValue.Type, [EntityValue])
    }

    private var view = View.unknown

    /// Returns the targets that are of the class.
    func entities<Entity: EntityValue>(of type: Entity.Type) -> [EntityValue] {
        switch view {
        case .all(let known) where known == type: return list
        case .some(let known, let entities) where known == type: return entities
        default: break
        }
        if list.allSatisfy({ $0 is Entity }) {
            view = .all(type)
            return list
        }
        let entities = list.filter { $0 is Entity }
        view = .some(type, entities)
        return entities
    }

    /// Returns the targets that are not of the class: read with another class, or set by the dynamic API. They can
    /// only be reported.
    func otherClassTargets<Entity: EntityValue>(to type: Entity.Type) -> [EntityValue] {
        if entities(of: type).count == list.count { return [] }
        return list.filter { !($0 is Entity) }
    }

    /// Discards the targets, unless there are unsaved changes.
    func unload() {
        failure = nil
        guard edit == .none else { return }
        (base, saved, list) = (nil, nil, [])
    }
}

/// The identity of a link, equal from both ends.
struct LinkIdentity: Hashable {
    private let relationship: String
    private let first: EntityIdentity
    private let second: EntityIdentity

    init(_ from: EntityIdentity, _ property: Property, _ to: EntityIdentity) {
        let relationship = property.navigation?.relationship
        self.relationship = relationship?.name ?? property.name
        (first, second) = relationship?.isForward ?? true ? (from, to) : (to, from)
    }

    init(_ from: EntityValue, _ property: Property, _ to: EntityValue) {
        self.init(EntityIdentity(from), property, EntityIdentity(to))
    }

    init(_ from: EntityValue, _ property: Property, _ to: EntityID) {
        self.init(EntityIdentity(from), property, EntityIdentity(to, inStoreOf: from))
    }

    /// Hashes only the entities, because two entities rarely have links of several relationships.
    func hash(into hasher: inout Hasher) {
        hasher.combine(first)
        hasher.combine(second)
    }
}
