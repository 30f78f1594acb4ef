import EDM
import ODataQuery
public import OfflineStore
public import Operations
import SyncCore

/// The target of a single-valued navigation property: `order.customer`.
///
/// The target is read on first access and then cached in the object that owns the relation. Like a changed value, a
/// new target affects only the object until the object is saved: by ``Box/put(_:)-(Entity)``,
/// ``DataService/createEntity(_:headers:options:)`` or ``DataService/updateEntity(_:headers:options:)``.
///
/// Reading blocks while the store is busy, for at most one of its transactions. Online, reading is a request, so access
/// without `await` throws `unsupported` or returns `nil`: call ``loaded()``, which works in both cases, or expand the
/// property in the query.
public struct ToOne<Target: EntityValue>: ExpressibleByNilLiteral {
    /// The object that owns the relation; `nil` for a value that is to be assigned.
    private let host: EntityValue?
    private let property: Property?
    /// The target of a value without host.
    private let choice: RelatedEntities

    /// Creates a relation to a new or existing entity, to be assigned: `order.customer = ToOne(target: customer)`.
    public init(target: Target?) {
        (host, property) = (nil, nil)
        choice = RelatedEntities(replacing: target.map { [$0] } ?? [])
    }

    /// Creates a relation to the entity with the given ID, to be assigned.
    public init(targetID: EntityID?) {
        (host, property) = (nil, nil)
        choice = RelatedEntities(replacing: [], targetID: targetID)
    }

    /// Creates a relation without target.
    public init(nilLiteral: ()) { self.init(target: nil) }

    init(_ host: EntityValue, _ property: Property) {
        (self.host, self.property) = (host, property)
        choice = host.relation(property)
    }

    /// The current state of the host's relation, which may have been saved or loaded meanwhile.
    private var related: RelatedEntities {
        guard let host, let property else { return choice }
        return host.relation(property)
    }

    /// The state of the target.
    public enum TargetState: Sendable, Hashable {
        /// There is no target.
        case none
        /// The target has not been saved.
        case unsaved
        /// The target exists and has not been read.
        case unloaded(EntityID)
        /// The target has been read or set.
        case loaded
        /// The foreign key identifies an entity that is not in the store, by set and key: `Customers('ALFKI')`. It
        /// has not been downloaded or does not exist.
        case unresolvable(String)
        /// The target could not be read.
        case failed(TidelogError.Code)
    }

    // MARK: Target

    /// The target, or `nil` if there is none. It is read on first access.
    ///
    /// Also `nil` if the read fails; ``state`` then contains the error code and the service's logger the error.
    /// ``resolve()`` throws the error.
    ///
    /// A new value takes effect when the object that owns the relation is saved. A new target is created then; for an
    /// existing target only the link is saved, not its own changes.
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
            host.revertForeignKey(property)
            if target == nil { host.clearUnknownKey(property) }
        }
        related.choose(target)
    }

    /// The ID of the target, or `nil` if there is none or it has not been saved. Does not read the target.
    ///
    /// Also `nil` if the store cannot be read; see ``state``.
    ///
    /// Setting the ID is like setting ``target`` but reads nothing: the existence of the entity is checked when the
    /// object is saved.
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
            if let host, let property { host.revertForeignKey(property) }
            related.replace([], targetID: newValue)
        }
    }

    /// A Boolean value that indicates whether there is a target, even if it is not saved or not in the store. Does
    /// not read it.
    public var hasValue: Bool { state != .none }

    /// The state of the target. Does not read it.
    public var state: TargetState {
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

    /// A Boolean value that indicates whether the app has set another target that has not been saved.
    public var hasPendingChange: Bool { related.edit != .none }

    /// A Boolean value that indicates whether the target in the store differs from the one that was read.
    ///
    /// `false` if nothing has been read; `true` if the store cannot be read. Compares the links only.
    public var isStale: Bool {
        guard let host, let property, host.address != nil else { return false }
        return host.isStale(related, property) ?? true
    }

    // MARK: Reading

    /// Returns the target, like ``target``. Throws if it cannot be read.
    ///
    /// - Throws: `unsupported` online, because reading is a request; `invalidRequest` if the target has another class;
    ///   `notFound` if the owner is no longer in the store.
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

    /// Returns the target, and reads it from the store or service if it has not been read yet: first access that works
    /// offline and online.
    ///
    /// Unlike ``load()``, it does not read a known target again.
    ///
    /// - Throws: `invalidRequest` if the target has another class; `notFound` if the owner is no longer in the store;
    ///   online, the error of the request.
    public func loaded() async throws(TidelogError) -> Target? {
        let related = related
        guard host != nil, related.edit == .none, !related.isResolved else { return try resolve() }
        return try await load()
    }

    /// Reads the target from the store or, online, from the service, even if it has been read before.
    ///
    /// - Throws: Like ``loaded()``.
    @discardableResult
    public func load() async throws(TidelogError) -> Target? {
        guard let host, let property, related.edit == .none else { return try resolve() }
        let found = try await host.loadRelation(property)
        related.unload()
        related.resolve(found)
        return try checked(related.target)
    }

    /// Discards the cached target, so that the next access reads it again. An unsaved change is kept.
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

    /// The set and key that the foreign key identifies, if the entity is not in the store.
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

    /// Assigns this relation to an object. If the target cannot be read, nothing is changed and the error is logged.
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
    /// Copies a foreign key that identifies an entity which is not in the store.
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
    /// The target of a single-valued navigation property. Setting it is like setting ``ToOne/target``.
    public subscript<Owner, Target>(property: ToOneProperty<Owner, Target>) -> ToOne<Target> {
        get { ToOne(self, property.property) }
        set { newValue.assign(to: self, property.property) }
    }

    /// Returns the entity with the given ID as a target of the navigation property, or `nil` if it is not in the
    /// store.
    fileprivate func readTarget(_ id: EntityID, _ property: Property) throws(TidelogError) -> EntityValue? {
        guard let factory else { return nil }
        return try factory.provider.queryWaiting(.entity(id)).entities.first.flatMap { factory.entity($0) }
    }
}
