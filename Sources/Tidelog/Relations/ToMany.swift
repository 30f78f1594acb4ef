import EDM
import ODataQuery
public import OfflineStore
public import Operations

/// The targets of a collection-valued navigation property: `customer.orders`.
///
/// A collection of objects in the order of the store. It is read on first access and then cached until it is
/// refreshed; ``isStale`` indicates whether the store has other targets now. Online, reading is a request, so access
/// without `await` finds nothing and sets ``failure``: call ``loaded()`` first, which works in both cases. Changes are kept in the object that owns
/// the relation and applied together when it is saved, or by ``applyChanges()``: in one change set, new entities are
/// created, existing ones linked, and removed ones unlinked.
///
/// The metadata declares the partner property of the other side (`Partner`, or the association): a link created here
/// is visible from there and vice versa. If the metadata has no property for this direction, use
/// ``EntityValue/backlinks(_:)-(ToOneProperty<Owner,Target>)``.
///
/// A copy is an independent value: changing it does not change the object's relation until it is assigned.
public struct ToMany<Element: EntityValue> {
    /// The object that owns the relation; `nil` for a collection that is to be assigned.
    private let host: EntityValue?
    /// The property of the host or, if `isBackwards`, the property of the elements that leads to the host.
    private let property: Property?
    private let isBackwards: Bool
    private var related: RelatedEntities

    /// Creates an empty collection that can be assigned to a relation.
    public init() {
        (host, property, isBackwards) = (nil, nil, false)
        related = RelatedEntities(base: [])
    }

    init(_ host: EntityValue, _ property: Property, _ related: RelatedEntities, isBackwards: Bool = false) {
        (self.host, self.property, self.isBackwards) = (host, property, isBackwards)
        self.related = related
    }

    /// The query for the targets in the store; `nil` if the host is not in a store, and for backlinks.
    var liveRequest: (QueryRequest, EntityFactory)? {
        guard let host, let property, !isBackwards, let factory = host.factory, let address = host.address else {
            return nil
        }
        return (.related(address, property, QueryOptions()), factory)
    }

    // MARK: Reading

    /// A Boolean value that indicates whether the entities have been read or are known without reading.
    public var isLoaded: Bool { related.isResolved }

    /// The error of the last read, or an error if the relation leads to an entity of another class; otherwise `nil`.
    ///
    /// After a failed read the collection contains only the targets known without reading, usually none.
    public var failure: TidelogError? {
        if let failure = related.failure { return failure }
        guard let property, let stranger = related.otherClassTargets(to: Element.self).first else { return nil }
        return TidelogError(
            .invalidRequest,
            "\(property) leads to an entity of type \(stranger.entityType.name), not to a \(Element.self).")
    }

    /// Reads the entities if they have not been read yet. Unlike access to the collection, it throws errors.
    ///
    /// - Throws: `unsupported` online, because reading is a request; `invalidRequest` if an entity has another class;
    ///   `notFound` if the owner is no longer in the store.
    public func resolve() throws(TidelogError) {
        guard !related.isResolved, let host, let property else { return }
        do throws(TidelogError) {
            related.resolve(try host.readRelation(property, isBackwards: isBackwards))
        } catch {
            related.failure = error
            throw error
        }
        if let failure { throw failure }
    }

    /// Returns the collection, and reads its entities from the store or service if they have not been read yet: first
    /// access that works offline and online.
    ///
    /// Unlike ``load()``, it does not read known entities again.
    ///
    /// - Throws: `invalidRequest` if an entity has another class; `notFound` if the owner is no longer in the store;
    ///   online, the error of the request.
    @discardableResult
    public func loaded() async throws(TidelogError) -> ToMany<Element> {
        if !related.isResolved { try await load() }
        if let failure { throw failure }
        return self
    }

    /// Reads the entities from the store or, online, from the service, even if they have been read before.
    ///
    /// Unsaved changes are kept. Copies that have not been changed since they were made are updated too.
    ///
    /// - Throws: `notFound` if the owner is no longer in the store; otherwise the error of the store or of the request.
    public func load() async throws(TidelogError) {
        guard let host, let property, host.address != nil else { return }
        related.resolve(try await host.loadRelation(property, isBackwards: isBackwards))
    }

    /// Reads the entities again, without suspending.
    ///
    /// Unsaved changes are kept. Copies that have not been changed since they were made are updated too.
    ///
    /// - Throws: `unsupported` online, because reading is a request; `notFound` if the owner is no longer in the store.
    public func refresh() throws(TidelogError) {
        guard let host, let property, host.address != nil else { return }
        related.resolve(try host.readRelation(property, isBackwards: isBackwards))
    }

    /// A Boolean value that indicates whether the entities in the store differ from those that were read.
    ///
    /// `false` if nothing has been read; `true` if the store cannot be read. Compares the links only and reads no
    /// entities.
    public var isStale: Bool {
        guard let host, let property, host.address != nil else { return false }
        return host.isStale(related, property, isBackwards: isBackwards) ?? true
    }

    /// Returns the entities as the store has them now, ignoring cached entities and unsaved changes.
    ///
    /// - Throws: Like ``refresh()``.
    public func uncached() throws(TidelogError) -> [Element] {
        guard let host, let property else { return [] }
        return try host.readRelation(property, isBackwards: isBackwards).compactMap { $0 as? Element }
    }

    /// Returns the IDs of the entities as the store has them now. Reads no entities.
    ///
    /// - Throws: Like ``refresh()``.
    public func uncachedIDs() throws(TidelogError) -> [EntityID] {
        guard let host, let property else { return [] }
        return try host.readRelationIDs(property, isBackwards: isBackwards)
    }

    /// Discards the cached entities and the unsaved changes.
    public mutating func reset() {
        if !isKnownUniquelyReferenced(&related) { related = related.copy() }
        related.discard()
    }

    // MARK: Changes

    /// The entities that were added and removed since the read and have not been saved. An entity that was added and
    /// removed again is in neither list.
    public var pendingChanges: (added: [Element], removed: [Element]) {
        (related.added.compactMap { $0 as? Element }, related.removed.compactMap { $0 as? Element })
    }

    /// A Boolean value that indicates whether entities were added or removed and not saved.
    public var hasPendingChanges: Bool { !related.added.isEmpty || !related.removed.isEmpty }

    /// Saves the added and removed entities in one change set, and no other changes of the owner. Does nothing if
    /// there are no changes.
    ///
    /// - Throws: `refused(.entityNotFound)` if the owner has not been saved; saving it saves its relations too. If
    ///   entities were removed but the collection could not be read, throws the error of the read.
    public func applyChanges() async throws(TidelogError) {
        if let obstacle = related.obstacle { throw obstacle }
        guard let host, let property, hasPendingChanges else { return }
        guard let factory = host.factory, host.state != .unsaved else {
            throw TidelogError(
                .refused(.entityNotFound), "An entity that is not saved cannot be linked.",
                recovery: "Save the entity first; its relations are saved with it.")
        }
        var plan = PutPlan()
        let (added, removed) = (related.added, related.removed)
        plan.unlink(removed, host, property, isBackwards: isBackwards)
        plan.link(added, host, property, isBackwards: isBackwards)
        try await plan.perform(factory, try await factory.provider.model())
        if isBackwards {
            related.markSaved(isSingle: false, isShared: false)
        } else {
            host.markSaved(related, property)
        }
    }

    /// The entities, read on first access.
    private var entities: [EntityValue] {
        if !related.isResolved {
            do throws(TidelogError) {
                try resolve()
            } catch {
                if let host, let property { host.report(error, property) }
            }
        }
        return related.entities(of: Element.self)
    }

    /// Changes the collection of this value only.
    private mutating func change(takesOut: Bool = false, _ body: (inout [EntityValue]) -> Void) {
        if !isKnownUniquelyReferenced(&related) { related = related.copy() }
        related.change(Element.self, takesOut: takesOut, body)
    }
}

extension ToMany: RandomAccessCollection {
    /// The index of the first entity, which is 0.
    public var startIndex: Int { 0 }
    /// The number of entities, which are read on first access.
    public var endIndex: Int { entities.count }

    /// The entity at an index, which must be less than ``endIndex``.
    public subscript(position: Int) -> Element {
        // The list contains only objects of this class.
        entities[position] as! Element
    }

    public func makeIterator() -> Iterator { Iterator(entities: entities.makeIterator()) }

    /// The iterator of the entities.
    public struct Iterator: IteratorProtocol {
        fileprivate var entities: IndexingIterator<[EntityValue]>

        public mutating func next() -> Element? {
            guard let entity = entities.next() else { return nil }
            return (entity as! Element)
        }
    }
}

extension ToMany: RangeReplaceableCollection {
    /// Replaces a range of the entities.
    public mutating func replaceSubrange(_ range: Range<Int>, with new: some Collection<Element>) {
        _ = entities
        change(takesOut: !range.isEmpty) { $0.replaceSubrange(range, with: new.map { $0 as EntityValue }) }
    }

    /// Adds an entity. Reads nothing.
    public mutating func append(_ entity: Element) { change { $0.append(entity) } }

    /// Adds entities. Reads nothing.
    public mutating func append(contentsOf entities: some Sequence<Element>) {
        change { list in list.append(contentsOf: entities.lazy.map { $0 as EntityValue }) }
    }

    /// Removes all entities.
    public mutating func removeAll(keepingCapacity: Bool = false) {
        _ = entities
        change(takesOut: true) { $0.removeAll(keepingCapacity: keepingCapacity) }
    }

    /// Removes the entities for which the predicate is true.
    public mutating func removeAll(where shouldBeRemoved: (Element) throws -> Bool) rethrows {
        let kept = try entities.filter { try !shouldBeRemoved($0 as! Element) }
        change(takesOut: true) { $0 = kept }
    }

    /// Removes an entity, given by any object that represents it.
    ///
    /// - Returns: `true` if the entity was in the collection.
    @discardableResult
    public mutating func remove(_ entity: Element) -> Bool {
        let identity = EntityIdentity(entity)
        guard let place = entities.firstIndex(where: { EntityIdentity($0) == identity }) else { return false }
        remove(at: place)
        return true
    }

    /// Replaces all entities of the relation.
    public mutating func replace(with entities: some Sequence<Element>) {
        _ = self.entities
        change(takesOut: true) { $0 = entities.map { $0 as EntityValue } }
    }
}

extension ToMany: ExpressibleByArrayLiteral {
    /// Creates a collection of the entities.
    public init(arrayLiteral elements: Element...) {
        self.init()
        append(contentsOf: elements)
    }
}

extension EntityValue {
    /// The targets of a collection-valued navigation property. Assigning replaces them; the change is saved with this
    /// object.
    public subscript<Owner, Target>(property: ToManyProperty<Owner, Target>) -> ToMany<Target> {
        get { ToMany(self, property.property, relation(property.property)) }
        _modify {
            let name = property.property.name
            var relation = ToMany<Target>(self, property.property, relation(property.property))
            let reading = relation.reading
            // With a single reference, the list is mutated in place.
            _ = related.remove(name)
            defer { related.set(relation.kept(by: self, property.property, reading), of: name, entityType) }
            yield &relation
        }
    }

    /// Returns the entities that refer to this one by a single-valued navigation property:
    /// `customer.backlinks(Order.payer)`.
    ///
    /// Use it if the metadata has no property for this direction, or to select one of several.
    ///
    /// Reads again at each call. Changes are saved by ``ToMany/applyChanges()`` only.
    public func backlinks<Owner: EntityValue, Target>(_ property: ToOneProperty<Owner, Target>) -> ToMany<Owner> {
        let related = RelatedEntities(base: isNew ? [] : nil)
        return ToMany(self, property.property, related, isBackwards: true)
    }

    /// Returns the entities that refer to this one by a collection-valued navigation property.
    ///
    /// Reads again at each call. Changes are saved by ``ToMany/applyChanges()`` only.
    public func backlinks<Owner: EntityValue, Target>(_ property: ToManyProperty<Owner, Target>) -> ToMany<Owner> {
        let related = RelatedEntities(base: isNew ? [] : nil)
        return ToMany(self, property.property, related, isBackwards: true)
    }
}

extension ToMany {
    /// Returns the state to be stored in an object after this collection was changed or assigned to it.
    ///
    /// - Parameter reading: the former state of the relation, from which added and removed entities are determined.
    fileprivate func kept(
        by host: EntityValue, _ property: Property, _ reading: RelatedEntities.LoadedTargets
    ) -> RelatedEntities {
        if self.host === host, self.property == property, !isBackwards { return related }
        var own = ToMany(host, property, RelatedEntities(reading))
        own.replace(with: self)
        return own.related
    }

    fileprivate var reading: RelatedEntities.LoadedTargets { related.reading(besides: Element.self) }
}
