import EDM
public import Operations
public import SyncEngine

/// What a collection-valued navigation property leads to: `customer.orders`.
///
/// A collection of objects, in the order of the store. It is read when it is first looked at, and then stays as it is, like any
/// value, until it is refreshed; ``isStale`` tells whether the store says something else by now. Changes are kept by the
/// object that has the relation, and applied together when that is saved, or by ``applyChanges()``: new entities are
/// created, others linked, and what was taken out is unlinked, in one change set.
///
/// Which navigation property of the other side belongs to it says the metadata (`Partner`, or the association): a link made
/// here is seen from there and the other way round. Where the metadata have no property for this direction see
/// ``EntityValue/backlinks(_:)-(ToOneProperty<Owner,Target>)``.
///
/// A copy is a value of its own: changing it does not change the object's relation before it is assigned.
public struct ToMany<Element: EntityValue> {
    /// The object that has the relation; nil for a collection that was made to be assigned.
    private let host: EntityValue?
    /// Of the host; or where `isBackwards`, the property of the elements that leads to it.
    private let property: Property?
    private let isBackwards: Bool
    private var related: RelatedEntities

    /// An empty collection, to be assigned.
    public init() {
        (host, property, isBackwards) = (nil, nil, false)
        related = RelatedEntities(base: [])
    }

    init(_ host: EntityValue, _ property: Property, _ related: RelatedEntities, isBackwards: Bool = false) {
        (self.host, self.property, self.isBackwards) = (host, property, isBackwards)
        self.related = related
    }

    // MARK: Reading

    /// Whether the entities have been read, or need not be.
    public var isLoaded: Bool { related.isResolved }

    /// Why the entities could not be read when the collection was looked at; it shows what is known then, mostly nothing. Nil
    /// where all is well.
    public var failure: TidelogError? {
        if let failure = related.failure { return failure }
        guard let property, let stranger = related.strangers(to: Element.self).first else { return nil }
        return TidelogError(
            .invalidRequest,
            "\(property) leads to an entity of type \(stranger.entityType.name), not to a \(Element.self).")
    }

    /// Reads the entities where that was not done yet. Looking at the collection does the same, but cannot throw.
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

    /// Reads the entities from the store or, online, from the service, also where that was done before. What the app has
    /// changed stays changed. Copies that were not changed since they were taken are read anew with it.
    public func load() async throws(TidelogError) {
        guard let host, let property, host.address != nil else { return }
        related.resolve(try await host.loadRelation(property, isBackwards: isBackwards))
    }

    /// Reads the entities anew, without suspending. What the app has changed stays changed. Copies that were not changed since
    /// they were taken are read anew with it.
    public func refresh() throws(TidelogError) {
        guard let host, let property, host.address != nil else { return }
        related.resolve(try host.readRelation(property, isBackwards: isBackwards))
    }

    /// Whether the store says by now that other entities belong to the relation than were read. False where nothing was read.
    /// Costs a look at the links, reads no entities. Where the store cannot be asked that counts as stale.
    public var isStale: Bool {
        guard let host, let property, host.address != nil else { return false }
        return host.isStale(related, property, isBackwards: isBackwards) ?? true
    }

    /// The entities as the store has them now, whatever was read or changed here before.
    public func uncached() throws(TidelogError) -> [Element] {
        guard let host, let property else { return [] }
        return try host.readRelation(property, isBackwards: isBackwards).compactMap { $0 as? Element }
    }

    /// The IDs of the entities as the store has them now. Reads no entities.
    public func uncachedIDs() throws(TidelogError) -> [EntityID] {
        guard let host, let property else { return [] }
        return try host.readRelationIDs(property, isBackwards: isBackwards)
    }

    /// Forgets what was read and what was changed.
    public mutating func reset() {
        if !isKnownUniquelyReferenced(&related) { related = related.copy() }
        related.discard()
    }

    // MARK: Changes

    /// What was added and what was taken out since the entities were read, and is not saved. What was added and taken out
    /// again is in neither.
    public var pendingChanges: (added: [Element], removed: [Element]) {
        let (added, removed) = related.changes
        return (added.compactMap { $0 as? Element }, removed.compactMap { $0 as? Element })
    }

    public var hasPendingChanges: Bool {
        let (added, removed) = related.changes
        return !added.isEmpty || !removed.isEmpty
    }

    /// Saves what was added and taken out, in one change set, and nothing else of the object that has the relation. Does nothing
    /// where nothing was changed.
    ///
    /// Throws `refused(.entityNotFound)` where that object is not saved yet: save it, and its relations go with it. Where
    /// something was to be taken out and it could not be read what is there, throws why.
    public func applyChanges() async throws(TidelogError) {
        if let obstacle = related.obstacle { throw obstacle }
        guard let host, let property, hasPendingChanges else { return }
        guard let factory = host.factory, host.state != .unsaved else {
            throw TidelogError(
                .refused(.entityNotFound), "An entity that is not saved has no links.",
                recovery: "Save the entity: its relations are saved with it.")
        }
        var plan = PutPlan()
        let changes = related.changes
        plan.unlink(changes.removed, host, property, isBackwards: isBackwards)
        plan.link(changes.added, host, property, isBackwards: isBackwards)
        try await plan.perform(factory)
        if isBackwards {
            related.settle(isSingle: false, isShared: false)
        } else {
            host.settle(related, property)
        }
    }

    /// The entities, read where that was not done yet.
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

    /// Changes the collection of this value alone.
    private mutating func change(takesOut: Bool = false, _ body: (inout [EntityValue]) -> Void) {
        if !isKnownUniquelyReferenced(&related) { related = related.copy() }
        related.change(Element.self, takesOut: takesOut, body)
    }
}

extension ToMany: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { entities.count }

    public subscript(position: Int) -> Element {
        // All of them are.
        entities[position] as! Element
    }

    public func makeIterator() -> Iterator { Iterator(entities: entities.makeIterator()) }

    public struct Iterator: IteratorProtocol {
        fileprivate var entities: IndexingIterator<[EntityValue]>

        public mutating func next() -> Element? { entities.next().map { $0 as! Element } }
    }
}

extension ToMany: RangeReplaceableCollection {
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

    public mutating func removeAll(keepingCapacity: Bool = false) {
        _ = entities
        change(takesOut: true) { $0.removeAll(keepingCapacity: keepingCapacity) }
    }

    /// Takes out those for which the predicate is true.
    public mutating func removeAll(where shouldBeRemoved: (Element) throws -> Bool) rethrows {
        let kept = try entities.filter { try !shouldBeRemoved($0 as! Element) }
        change(takesOut: true) { $0 = kept }
    }

    /// Takes an entity out, whichever of its objects is given. Returns whether it was in.
    @discardableResult
    public mutating func remove(_ entity: Element) -> Bool {
        let identity = EntityIdentity(entity)
        guard let place = entities.firstIndex(where: { EntityIdentity($0) == identity }) else { return false }
        remove(at: place)
        return true
    }

    /// Makes these the entities of the relation.
    public mutating func replace(with entities: some Sequence<Element>) {
        _ = self.entities
        change(takesOut: true) { $0 = entities.map { $0 as EntityValue } }
    }
}

extension ToMany: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: Element...) {
        self.init()
        append(contentsOf: elements)
    }
}

extension EntityValue {
    /// What a collection-valued navigation property leads to. Assigning makes those the entities of the relation; it is saved
    /// with this object.
    public subscript<Owner, Target>(property: ToManyProperty<Owner, Target>) -> ToMany<Target> {
        get { ToMany(self, property.property, relation(property.property)) }
        _modify {
            let name = property.property.name
            var relation = ToMany<Target>(self, property.property, relation(property.property))
            let reading = relation.reading
            // Held once, it can be changed in its place.
            related[name] = nil
            defer { related[name] = relation.kept(by: self, property.property, reading) }
            yield &relation
        }
    }

    /// The entities that lead to this one by a single-valued navigation property of theirs, where the metadata have no
    /// property for this direction, or where it is to be said which of several is meant: `customer.backlinks(Order.payer)`.
    ///
    /// Reads anew each time, and is saved by ``ToMany/applyChanges()`` alone.
    public func backlinks<Owner: EntityValue, Target>(_ property: ToOneProperty<Owner, Target>) -> ToMany<Owner> {
        let related = RelatedEntities(base: isNew ? [] : nil)
        return ToMany(self, property.property, related, isBackwards: true)
    }

    /// The same for a collection-valued navigation property.
    public func backlinks<Owner: EntityValue, Target>(_ property: ToManyProperty<Owner, Target>) -> ToMany<Owner> {
        let related = RelatedEntities(base: isNew ? [] : nil)
        return ToMany(self, property.property, related, isBackwards: true)
    }
}

extension ToMany {
    /// What an object is to keep of this collection after it was changed, or assigned to it.
    ///
    /// - Parameter reading: of what the object had there before. What came and went is told by what was read then.
    fileprivate func kept(
        by host: EntityValue, _ property: Property, _ reading: RelatedEntities.Reading
    ) -> RelatedEntities {
        if self.host === host, self.property == property, !isBackwards { return related }
        var own = ToMany(host, property, RelatedEntities(reading))
        own.replace(with: self)
        return own.related
    }

    fileprivate var reading: RelatedEntities.Reading { related.reading(besides: Element.self) }
}
