import EDM
import Operations
import SyncEngine

/// What an entity object knows of one of its navigation properties: what was read, and what the app has made of it since.
///
/// Never refers to the entity that it belongs to, so that the two don't keep each other alive.
final class RelatedEntities {
    /// As it was read; nil before.
    var base: [EntityValue]?
    /// As the app sees it. Where `base` is nil, what the app has put there itself.
    private(set) var list: [EntityValue] { didSet { members = nil } }
    /// The objects of ``list``, once they were asked for.
    private var members: Set<ObjectIdentifier>?
    private(set) var edit: Edit
    /// The target by its ID, where the app has set that.
    private(set) var targetID: EntityID?
    /// A target that was set and has been saved. It may know the entity that this belongs to, so it is not kept alive.
    private weak var saved: EntityValue?
    /// Why the last reading failed.
    var failure: TidelogError?

    enum Edit {
        /// None since it was read or saved.
        case none
        /// Set as a whole: the target, or all that a new entity has there.
        case replaced
        /// Some entities came, or went.
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

    func copy() -> RelatedEntities {
        let copy = RelatedEntities(base: base)
        copy.list = list
        copy.edit = edit
        copy.targetID = targetID
        copy.saved = saved
        copy.failure = failure
        return copy
    }

    /// Takes over what was read. What the app changed before stays changed.
    func resolve(_ found: [EntityValue]) {
        switch edit {
        case .none: list = found
        case .replaced: break
        case .changed:
            let (added, removed) = changes
            let gone = Set(removed.map(EntityIdentity.init))
            let known = Set(found.map(EntityIdentity.init))
            list =
                found.filter { !gone.contains(EntityIdentity($0)) }
                + added.filter { !known.contains(EntityIdentity($0)) }
        }
        base = found
        failure = nil
        admitted = nil
    }

    /// The target that a reading by ID has found.
    func resolve(targetID target: EntityValue) {
        list = [target]
        failure = nil
    }

    func change(_ body: (inout [EntityValue]) -> Void) {
        body(&list)
        if edit == .none { edit = .changed }
    }

    func replace(_ entities: [EntityValue], targetID: EntityID? = nil) {
        list = entities
        self.targetID = targetID
        edit = .replaced
        admitted = nil
    }

    /// Of a single-valued relation. What it leads to already is no change.
    func choose(_ target: EntityValue?) {
        let new = target.map(EntityIdentity.init)
        if let base, base.first.map(EntityIdentity.init) == new {
            (list, targetID, edit) = (target.map { [$0] } ?? [], nil, .none)
        } else {
            replace(target.map { [$0] } ?? [])
        }
    }

    /// The single entity that is known, without reading.
    var target: EntityValue? { list.first ?? saved }
    var isResolved: Bool { base != nil || edit == .replaced || saved != nil }

    /// Whether this very object is among them.
    func contains(_ entity: EntityValue) -> Bool {
        let known = members ?? Set(list.map(ObjectIdentifier.init))
        members = known
        return known.contains(ObjectIdentifier(entity))
    }

    /// What came and what went since it was read, each entity once.
    var changes: (added: [EntityValue], removed: [EntityValue]) {
        guard edit != .none else { return ([], []) }
        var before = Set((base ?? []).map(EntityIdentity.init))
        let kept = Set(list.map(EntityIdentity.init))
        let removed = (base ?? []).filter { !kept.contains(EntityIdentity($0)) }
        let added = list.filter { before.insert(EntityIdentity($0)).inserted }
        return (added, removed)
    }

    /// What the app changed has been saved.
    ///
    /// - Parameter isShared: whether the entities may know the one that this belongs to.
    func settle(isSingle: Bool, isShared: Bool) {
        guard edit != .none else { return }
        let wasComplete = base != nil || edit == .replaced
        edit = .none
        if isSingle, isShared || targetID != nil {
            saved = list.first
            (base, list, targetID) = (nil, [], nil)
        } else if wasComplete {
            base = list
        } else {
            list = []
        }
    }

    /// Stops keeping the target alive.
    func weaken() {
        guard edit == .none, let target = list.first else { return }
        saved = target
        (base, list) = (nil, [])
    }

    /// Forgets what was read and what was changed.
    func discard() {
        (edit, targetID) = (.none, nil)
        unload()
    }

    /// The class that all entities are known to be of.
    private var admitted: EntityValue.Type?

    /// Leaves out what is not of the class, and says so.
    func admit<Entity: EntityValue>(_ type: Entity.Type, _ property: Property) {
        guard admitted != type else { return }
        admitted = type
        if let stranger = list.first(where: { !($0 is Entity) }) {
            failure = TidelogError(
                .invalidRequest,
                "\(property) leads to an entity of type \(stranger.entityType.name), not to a \(type).")
            list.removeAll { !($0 is Entity) }
            base?.removeAll { !($0 is Entity) }
        }
    }

    /// Forgets what was read, unless something was changed.
    func unload() {
        failure = nil
        guard edit == .none else { return }
        (base, saved, list) = (nil, nil, [])
    }
}

/// Tells whether two objects are the same entity: by the store's ID, or else by what they are.
struct EntityIdentity: Hashable {
    private let id: EntityID?
    private let link: String?
    private let object: ObjectIdentifier?

    init(_ entity: EntityValue) {
        id = entity.entityID
        link = id == nil ? entity.readLink : nil
        object = id == nil && link == nil ? ObjectIdentifier(entity) : nil
    }
}
