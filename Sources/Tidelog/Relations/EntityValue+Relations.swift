import EDM
import Logging
import ODataQuery
import OfflineStore
import Operations

extension EntityValue {
    /// Returns the cached relation of a navigation property, or creates an empty one.
    func relation(_ property: Property) -> RelatedEntities {
        if let known = related[property.name] { return known }
        // An entity that has not been saved has no links in the store.
        let new = RelatedEntities(base: isNew ? [] : nil)
        related.set(new, of: property.name, entityType)
        return new
    }

    /// A Boolean value that indicates whether the entity exists neither in a store nor on a service.
    ///
    /// An object created by hand can have the links of an existing entity, and then is not new.
    public var isNew: Bool { state == .unsaved && !hasLink }

    /// The provider with which the entity was read or saved; `nil` before.
    var store: ObjectIdentifier? { factory.map { ObjectIdentifier($0.provider) } }

    /// The address of the entity; `nil` until it is saved.
    var address: EntityAddress? { entityID.map { .id($0) } ?? (readLink ?? editLink).map { .link($0) } }

    /// Reads the targets from the store without suspending. Returns nothing for an entity that has not been saved.
    func readRelation(_ property: Property, isBackwards: Bool = false) throws(TidelogError) -> [EntityValue] {
        guard let factory, let address else { return [] }
        var answer = try factory.provider.queryWaiting(Self.request(address, property, isBackwards))
        return factory.entities(moving: &answer.entities)
    }

    /// Reads the targets from a store or service.
    func loadRelation(_ property: Property, isBackwards: Bool = false) async throws(TidelogError) -> [EntityValue] {
        guard let factory, let address else { return [] }
        var answer = try await factory.provider.query(Self.request(address, property, isBackwards), headers: .empty)
        return factory.entities(moving: &answer.entities)
    }

    /// Reads the IDs of the targets from the store without suspending.
    func readRelationIDs(_ property: Property, isBackwards: Bool = false) throws(TidelogError) -> [EntityID] {
        guard let factory, let address else { return [] }
        return try factory.provider.linkedEntities(address, property, isBackwards: isBackwards)
    }

    /// Returns the IDs of the targets as a set, or `nil` if they cannot be read.
    func storedIDs(_ property: Property, isBackwards: Bool = false) -> Set<EntityID>? {
        guard let factory, let address else { return nil }
        return (try? factory.provider.linkedEntities(address, property, isBackwards: isBackwards)).map(Set.init)
    }

    private static func request(
        _ address: EntityAddress, _ property: Property, _ isBackwards: Bool
    ) -> QueryRequest {
        isBackwards
            ? .sources(address, property, QueryOptions()) : .related(address, property, QueryOptions())
    }

    /// Marks all changed relations that the type declares as saved. Returns the changed relations.
    @discardableResult
    func markRelationsSaved() -> [KnownRelation] {
        let changed = related.changed
        for relation in changed { if let property = relation.property { markSaved(relation.targets, property) } }
        return changed
    }

    /// Marks one relation as saved.
    func markSaved(_ relation: RelatedEntities, _ property: Property) {
        let partner = property.navigation?.partner
        let isShared = partner.map { relation.target?.related[$0] != nil } ?? false
        if relation.edit != .none, let partner { invalidatePartners(relation, partner) }
        relation.markSaved(isSingle: !property.isCollection, isShared: isShared)
    }

    /// Invalidates the cached relations of the entities at the other end, unless they already contain this entity.
    private func invalidatePartners(_ relation: RelatedEntities, _ partner: String) {
        for entity in relation.list {
            guard let theirs = entity.related[partner], theirs.edit == .none, theirs.isResolved else { continue }
            let isCollection = entity.entityType.findProperty(partner)?.isCollection ?? false
            if !isCollection, theirs.target === self {
                theirs.weaken()
            } else if !theirs.contains(self) {
                entity.related.set(theirs.outdated(), of: partner, entity.entityType)
            }
        }
        for entity in relation.removed {
            guard let theirs = entity.related[partner], theirs.edit == .none, theirs.isResolved else { continue }
            entity.related.set(theirs.outdated(), of: partner, entity.entityType)
        }
    }

    /// Whether the object has unsaved changes.
    var isEdited: Bool {
        !changedValues.isEmpty || !bindings.isEmpty || related.isEdited
    }

    // MARK: Foreign keys

    /// Reverts an unsaved change of the foreign key, because the newly set target has precedence.
    ///
    /// A new entity keeps its values, which may be part of its key; the target has precedence there as well.
    func revertForeignKey(_ property: Property) {
        guard state != .unsaved else { return }
        for pair in property.navigation?.constraints ?? [] { values[pair.dependent] = savedValues[pair.dependent] }
    }

    /// Clears a foreign key whose entity is not in the store, after the target was set to `nil`. There is no link
    /// that could be removed.
    func clearUnknownKey(_ property: Property) {
        let pairs = property.navigation?.constraints ?? []
        let isNamed = pairs.contains { !(values[$0.dependent] ?? .null).isNull }
        // The store has no links of a new entity.
        guard isNamed, isNew || storedIDs(property)?.isEmpty == true else { return }
        for pair in pairs where !entityType.keyProperties.contains(where: { $0.name == pair.dependent }) {
            values[pair.dependent] = isNew ? nil : .null
        }
    }

    // MARK: Staleness

    /// Whether the targets in the store differ from those that were read; `nil` if they cannot be read. Reads no
    /// entities.
    func isStale(_ relation: RelatedEntities, _ property: Property, isBackwards: Bool = false) -> Bool? {
        guard let known = relation.read else { return false }
        guard let ids = try? readRelationIDs(property, isBackwards: isBackwards) else { return nil }
        return Set(ids) != Set(known.compactMap(\.entityID))
    }

    /// Discards targets of single-valued relations that have changed since they were read.
    ///
    /// If the store cannot be read, a changed foreign key indicates the change. Collections are kept, because objects
    /// in them may have unsaved changes.
    ///
    /// - Parameter former: the previously known values.
    func forgetStaleRelations(besides settled: [KnownRelation], former: PropertyValues) {
        for known in related.all where known.targets.edit == .none && known.targets.isResolved {
            guard let property = known.property, !property.isCollection else { continue }
            let relation = known.targets
            if settled.contains(where: { $0.name == known.name }) {
                if keyContradicts(relation, property) { relation.unload() }
                continue
            }
            let hasOtherKey = (property.navigation?.constraints ?? []).contains { pair in
                former[pair.dependent] != savedValues[pair.dependent]
            }
            if isStale(relation, property) ?? hasOtherKey { relation.unload() }
        }
    }

    /// Whether a saved foreign key identifies another entity than the relation that was saved with it.
    private func keyContradicts(_ relation: RelatedEntities, _ property: Property) -> Bool {
        let pairs = property.navigation?.constraints ?? []
        guard !pairs.isEmpty else { return false }
        let target = relation.target
        var contradicts = target == nil
        for pair in pairs {
            guard let own = savedValues[pair.dependent], !own.isNull else { return false }
            if let known = target?.savedValues[pair.principal], known != own { contradicts = true }
        }
        return contradicts
    }

    /// Logs a failed read for which no error can be thrown.
    func report(_ error: TidelogError, _ property: Property) {
        factory?.logger.error("\(property) cannot be read: \(error)")
    }
}
