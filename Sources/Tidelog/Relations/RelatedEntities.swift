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
    private(set) var list: [EntityValue] { didSet { (members, view) = (nil, .unknown) } }
    /// The objects of ``list``, once they were asked for.
    private var members: Set<ObjectIdentifier>?
    /// What was read before it was outdated.
    private var former: [EntityValue] = []
    private(set) var edit: Edit
    /// The target by its ID, where the app has set that.
    private(set) var targetID: EntityID?
    /// A target that was set and has been saved. It may know the entity that this belongs to, so it is not kept alive.
    private weak var saved: EntityValue?
    /// Why the last reading failed.
    var failure: TidelogError?
    /// Why something that was to be taken out is not known: what is there could not be read. To be told when it is saved.
    private(set) var obstacle: TidelogError?

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

    /// What was read, and what a class does not show of it: what remains when a relation is set anew as a whole.
    struct Reading {
        fileprivate let base: [EntityValue]?
        fileprivate let strangers: [EntityValue]
        fileprivate let former: [EntityValue]
    }

    /// Does not hold the list, which is changed in its place.
    func reading<Entity: EntityValue>(besides type: Entity.Type) -> Reading {
        Reading(base: base, strangers: strangers(to: type), former: former)
    }

    init(_ reading: Reading) {
        base = reading.base
        list = reading.strangers
        former = reading.former
        // They stay also where the rest is read only now.
        edit = reading.strangers.isEmpty ? .none : .changed
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

    /// Takes over what was read. What the app changed before stays changed, also in objects that were among them.
    func resolve(_ read: [EntityValue]) {
        let found = keepingEdited(read)
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
        (base, saved, former) = (found, nil, [])
        (failure, obstacle) = (nil, nil)
    }

    private func keepingEdited(_ read: [EntityValue]) -> [EntityValue] {
        let edited = (former + (base ?? []) + list).filter(\.isEdited)
        if edited.isEmpty { return read }
        let objects = Dictionary(edited.map { (EntityIdentity($0), $0) }, uniquingKeysWith: { $1 })
        return read.map { objects[EntityIdentity($0)] ?? $0 }
    }

    /// The target that a reading by ID has found.
    func resolve(targetID target: EntityValue) {
        list = [target]
        failure = nil
    }

    /// Changes those of the class. Others stay, behind them.
    ///
    /// - Parameter takesOut: whether what is there has to be known for it.
    func change<Entity: EntityValue>(
        _ type: Entity.Type, takesOut: Bool, _ body: (inout [EntityValue]) -> Void
    ) {
        if takesOut, !isResolved { obstacle = obstacle ?? failure }
        let strangers = strangers(to: type)
        if !strangers.isEmpty { list = entities(of: type) }
        body(&list)
        if strangers.isEmpty { view = .all(type) } else { list += strangers }
        if edit == .none { edit = .changed }
    }

    func replace(_ entities: [EntityValue], targetID: EntityID? = nil) {
        list = entities
        self.targetID = targetID
        edit = .replaced
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

    /// What was read, or saved, before the app changed something; nil where that is not known.
    var read: [EntityValue]? { base ?? saved.map { [$0] } }
    /// The single entity that is known, without reading.
    var target: EntityValue? { list.first ?? (edit == .none ? saved : nil) }
    var isResolved: Bool { base != nil || edit == .replaced || saved != nil }

    /// Whether this very object is among them.
    func contains(_ entity: EntityValue) -> Bool {
        let known = members ?? Set(list.map(ObjectIdentifier.init))
        members = known
        return known.contains(ObjectIdentifier(entity))
    }

    /// The same, to be read anew when it is looked at. Copies that somebody holds stay as they are.
    func outdated() -> RelatedEntities {
        let outdated = RelatedEntities()
        outdated.former = list
        return outdated
    }

    /// What came and what went since it was read, each entity once.
    var changes: (added: [EntityValue], removed: [EntityValue]) {
        guard edit != .none else { return ([], []) }
        let base = read ?? []
        var before = Set(base.map(EntityIdentity.init))
        let kept = Set(list.map(EntityIdentity.init))
        let removed = base.filter { !kept.contains(EntityIdentity($0)) }
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
        // The store has each link once, however often it was made here.
        var met: Set<EntityIdentity> = []
        if list.count > 1 { list.removeAll { !met.insert(EntityIdentity($0)).inserted } }
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

    /// Stops keeping the target alive.
    func weaken() {
        guard edit == .none, let target = list.first else { return }
        saved = target
        (base, list) = (nil, [])
    }

    /// Forgets what was read and what was changed.
    func discard() {
        (edit, targetID, former, obstacle) = (.none, nil, [], nil)
        unload()
    }

    // MARK: Classes

    /// What of ``list`` is of a class.
    private enum View {
        case unknown
        case all(EntityValue.Type)
        case some(EntityValue.Type, [EntityValue])
    }

    private var view = View.unknown

    /// Those of ``list`` that are of the class.
    func entities<Entity: EntityValue>(of type: Entity.Type) -> [EntityValue] {
        switch view {
        case .all(let known) where known == type: return list
        case .some(let known, let entities) where known == type: return entities
        default: break
        }
        let entities = list.filter { $0 is Entity }
        let isAll = entities.count == list.count
        view = isAll ? .all(type) : .some(type, entities)
        return isAll ? list : entities
    }

    /// The others. They can only be told of: an entity read with another class, or one that was given by the dynamic API.
    func strangers<Entity: EntityValue>(to type: Entity.Type) -> [EntityValue] {
        if entities(of: type).count == list.count { return [] }
        return list.filter { !($0 is Entity) }
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
    /// Whose ID it is.
    private let store: ObjectIdentifier?
    private let link: String?
    private let object: ObjectIdentifier?

    init(_ entity: EntityValue) {
        id = entity.entityID
        store = id == nil ? nil : entity.store
        link = id == nil ? entity.readLink : nil
        object = id == nil && link == nil ? ObjectIdentifier(entity) : nil
    }

    /// Of an entity in the store of another one.
    init(_ id: EntityID, inStoreOf other: EntityValue) { (self.id, store, link, object) = (id, other.store, nil, nil) }
}

/// A link as both of its ends know it.
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
}
