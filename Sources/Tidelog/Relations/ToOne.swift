import EDM
import ODataWire
public import Operations
import SyncCore
public import SyncEngine

/// What a single-valued navigation property leads to: `order.customer`.
///
/// Nothing is read before it is asked for; then it is kept by the object that has the relation. A change is local to that
/// object, like a changed value, until the object is saved: by ``Box/put(_:)-(Entity)``, ``DataService/createEntity(_:headers:options:)``
/// or ``DataService/updateEntity(_:headers:options:)``.
///
/// Reading blocks while the store does something else, at most for one of its transactions. With an
/// ``OnlineODataProvider`` nothing is read this way: call ``load()``, or expand the property in the query.
public struct ToOne<Target: EntityValue>: ExpressibleByNilLiteral {
    /// The object that has the relation; nil for a value that was made to be assigned.
    private let host: EntityValue?
    private let property: Property?
    /// Of a value without host.
    private let choice: RelatedEntities

    /// A relation to that entity, new or saved before, to be assigned: `order.customer = ToOne(target: customer)`.
    public init(target: Target?) {
        (host, property) = (nil, nil)
        choice = RelatedEntities(replacing: target.map { [$0] } ?? [])
    }

    /// A relation to the entity of that ID, to be assigned.
    public init(targetID: EntityID?) {
        (host, property) = (nil, nil)
        choice = RelatedEntities(replacing: [], targetID: targetID)
    }

    /// No target.
    public init(nilLiteral: ()) { self.init(target: nil) }

    init(_ host: EntityValue, _ property: Property) {
        (self.host, self.property) = (host, property)
        choice = host.relation(property)
    }

    /// Of the host: what it knows now, since it may have been saved or loaded in the meantime.
    private var related: RelatedEntities {
        guard let host, let property else { return choice }
        return host.relation(property)
    }

    /// How much is known of the target.
    public enum State: Sendable, Hashable {
        /// There is none.
        case none
        /// An object that is not saved yet.
        case unsaved
        /// There is one, and it was not read yet.
        case unloaded(EntityID)
        /// It was read or set, and is at hand.
        case loaded
        /// The foreign key says that there is one, and the store does not have it: its set and key, `Customers('ALFKI')`. It
        /// was not downloaded, or does not exist.
        case unresolvable(String)
        /// It could not be read.
        case failed(TidelogError.Code)
    }

    // MARK: Target

    /// The entity that the relation leads to; nil where there is none. Read when it is first asked for.
    ///
    /// Nil also where it cannot be read; ``state`` says so then, and the service's logger has the error. ``resolve()`` throws it.
    ///
    /// Setting another one, or nil, takes effect when the object that has the relation is saved. A new target is created then;
    /// of one that exists only the link is made, and what was changed in it is not saved.
    public var target: Target? {
        get {
            do throws(TidelogError) {
                return try resolve()
            } catch {
                if let host, let property { host.report(error, property) }
                return nil
            }
        }
        nonmutating set { choose(newValue) }
    }

    private func choose(_ target: EntityValue?) {
        if let host, let property {
            host.takeBackKey(property)
            if target == nil { host.clearUnknownKey(property) }
        }
        related.choose(target)
    }

    /// The ID of the target; nil where there is none, and where it is not saved yet. Does not read the target. Nil also where
    /// the store cannot be read, see ``state``.
    ///
    /// Setting one is as setting ``target``, and reads nothing: whether there is such an entity is found when the object is
    /// saved.
    public var targetID: EntityID? {
        get {
            let related = related
            if let id = related.targetID { return id }
            if related.isResolved, let target = related.target { return target.entityID }
            if related.isResolved { return nil }
            do throws(TidelogError) {
                guard let host, let property else { return nil }
                return try host.readRelationIDs(property).first
            } catch {
                fail(error)
                return nil
            }
        }
        nonmutating set {
            guard let newValue else { return choose(nil) }
            if let host, let property { host.takeBackKey(property) }
            related.replace([], targetID: newValue)
        }
    }

    /// Whether there is a target, saved or not, in the store or not. Does not read it.
    public var hasValue: Bool { state != .none }

    public var state: State {
        let related = related
        if let target = related.target {
            guard target is Target else { return .failed(.invalidRequest) }
            return target.state == .unsaved ? .unsaved : .loaded
        }
        if let id = related.targetID { return .unloaded(id) }
        if let failure = related.failure { return .failed(failure.code) }
        if related.edit == .replaced { return .none }
        if let id = targetID { return .unloaded(id) }
        if let failure = related.failure { return .failed(failure.code) }
        return unknownTarget.map { .unresolvable($0) } ?? .none
    }

    /// Whether the app set another target that is not saved.
    public var hasPendingChange: Bool { related.edit != .none }

    /// Whether the store says by now that the relation leads to another entity than was read, or to none. False where nothing was
    /// read. Costs a look at the links. Where the store cannot be asked that counts as stale.
    public var isStale: Bool {
        guard let host, let property, host.address != nil else { return false }
        return host.isStale(related, property) ?? true
    }

    // MARK: Reading

    /// The target, as ``target`` gives it, or the reason why it cannot be read.
    public func resolve() throws(TidelogError) -> Target? {
        let related = related
        if related.target == nil, let host, let property {
            do throws(TidelogError) {
                if let id = related.targetID {
                    if let target = try host.readTarget(id, property) { related.resolve(targetID: target) }
                } else if !related.isResolved {
                    related.resolve(try host.readRelation(property))
                }
            } catch {
                fail(error)
                throw error
            }
        }
        return try checked(related.target)
    }

    /// Reads the target from the store or, online, from the service. Reads again what was read before.
    @discardableResult
    public func load() async throws(TidelogError) -> Target? {
        guard let host, let property, related.edit == .none else { return try resolve() }
        let found = try await host.loadRelation(property)
        related.unload()
        related.resolve(found)
        return try checked(related.target)
    }

    /// Forgets the target that was read, so that it is read anew when it is next asked for. What the app set and has not saved
    /// stays set.
    public func reset() { related.unload() }

    private func fail(_ error: TidelogError) { related.failure = error }

    private func checked(_ found: EntityValue?) throws(TidelogError) -> Target? {
        guard let found else { return nil }
        guard let target = found as? Target else {
            throw TidelogError(
                .invalidRequest,
                "\(property?.description ?? "The relation") leads to an entity of type \(found.entityType.name), not to a \(Target.self)."
            )
        }
        return target
    }

    /// What the foreign key names, where no such entity is in the store.
    private var unknownTarget: String? {
        guard let host, let end = property?.navigation, !end.constraints.isEmpty else { return nil }
        var key: [(name: String, value: Value)] = []
        for pair in end.constraints {
            guard let value = host.values[pair.dependent], !value.isNull else { return nil }
            key.append((pair.principal, value))
        }
        let set = host.entitySet.flatMap { host.factory?.model.target(of: property!, in: $0) }
        return "\(set?.name ?? end.targetType)(\(KeyText.predicate(KeyPredicate(key))))"
    }

    // MARK: Assigning

    /// Makes this the relation of an object. Where it is not known what this leads to, since it cannot be read, nothing is
    /// changed, and the service's logger has the error.
    func assign(to host: EntityValue, _ property: Property) {
        if self.host === host, self.property == property { return }
        let own = ToOne(host, property)
        if let target = related.target { return own.choose(target) }
        let id = targetID
        if id == nil, let failure = related.failure { return host.report(failure, property) }
        if id == nil, let source = self.host, related.edit == .none, unknownTarget != nil {
            return own.takeKey(of: source, self.property)
        }
        own.targetID = id
    }
}

extension ToOne {
    /// Takes over a foreign key that names an entity which the store does not have.
    fileprivate func takeKey(of source: EntityValue, _ property: Property?) {
        guard let host, let own = self.property?.navigation, let theirs = property?.navigation else { return }
        for pair in own.constraints {
            guard let other = theirs.constraints.first(where: { $0.principal == pair.principal }) else { continue }
            host.values[pair.dependent] = source.values[other.dependent]
        }
        host.relation(self.property!).discard()
    }
}

extension EntityValue {
    /// What a single-valued navigation property leads to. Setting it is setting ``ToOne/target``.
    public subscript<Owner, Target>(property: ToOneProperty<Owner, Target>) -> ToOne<Target> {
        get { ToOne(self, property.property) }
        set { newValue.assign(to: self, property.property) }
    }

    /// The entity of that ID, as a target of the navigation property; nil where it is not in the store.
    fileprivate func readTarget(_ id: EntityID, _ property: Property) throws(TidelogError) -> EntityValue? {
        guard let factory else { return nil }
        let answer = try factory.provider.queryWaiting(.entity(id))
        return answer.entities.first.flatMap { factory.entity($0) }
    }
}
