import EDM
import ODataWire
import Operations
import SyncEngine

extension EntityValue {
    /// What is known of a navigation property; made where nothing is.
    func relation(_ property: Property) -> RelatedEntities {
        if let known = related[property.name] { return known }
        // Nothing leads from or to an entity that nobody has saved.
        let new = RelatedEntities(base: isNew ? [] : nil)
        related[property.name] = new
        return new
    }

    /// Whether nobody has it yet. An object that was made by hand may have the links of an entity that is there.
    var isNew: Bool { state == .unsaved && readLink == nil && editLink == nil }

    /// Where it was read or saved; nil before.
    var store: ObjectIdentifier? { factory.map { ObjectIdentifier($0.provider) } }

    /// How the store finds this entity; nil while it is not saved.
    var address: EntityAddress? { entityID.map { .id($0) } ?? (readLink ?? editLink).map { .link($0) } }

    /// What the store says now, without suspending. Nothing for an entity that was not saved.
    func readRelation(_ property: Property, isBackwards: Bool = false) throws(TidelogError) -> [EntityValue] {
        guard let factory, let address else { return [] }
        let answer = try factory.provider.queryWaiting(Self.request(address, property, isBackwards))
        return answer.entities.compactMap { factory.entity($0) }
    }

    /// The same from a store or a service.
    func loadRelation(_ property: Property, isBackwards: Bool = false) async throws(TidelogError) -> [EntityValue] {
        guard let factory, let address else { return [] }
        let answer = try await factory.provider.query(Self.request(address, property, isBackwards), headers: .empty)
        return answer.entities.compactMap { factory.entity($0) }
    }

    /// The IDs of what the store says now.
    func readRelationIDs(_ property: Property, isBackwards: Bool = false) throws(TidelogError) -> [EntityID] {
        guard let factory, let address else { return [] }
        return try factory.provider.linkedEntities(address, property, isBackwards: isBackwards)
    }

    /// The same as a set; nil where nobody can be asked.
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

    /// Everything that was set here has been saved. Returns of which relations something was.
    @discardableResult
    func settleRelations() -> Set<String> {
        var settled: Set<String> = []
        for (name, relation) in related where relation.edit != .none {
            guard let property = entityType.findProperty(name) else { continue }
            settle(relation, property)
            settled.insert(name)
        }
        return settled
    }

    /// What was set of one relation has been saved.
    func settle(_ relation: RelatedEntities, _ property: Property) {
        let partner = property.navigation?.partner
        let isShared = partner.map { relation.target?.related[$0] != nil } ?? false
        if relation.edit != .none, let partner { tellPartners(relation, partner) }
        relation.settle(isSingle: !property.isCollection, isShared: isShared)
    }

    /// What the entities at the other end have read of the relationship is out of date, unless they say the same.
    private func tellPartners(_ relation: RelatedEntities, _ partner: String) {
        for entity in relation.list {
            guard let theirs = entity.related[partner], theirs.edit == .none, theirs.isResolved else { continue }
            let isCollection = entity.entityType.findProperty(partner)?.isCollection ?? false
            if !isCollection, theirs.target === self {
                theirs.weaken()
            } else if !theirs.contains(self) {
                entity.related[partner] = theirs.outdated()
            }
        }
        for entity in relation.changes.removed {
            guard let theirs = entity.related[partner], theirs.edit == .none, theirs.isResolved else { continue }
            entity.related[partner] = theirs.outdated()
        }
    }

    /// Whether the app has changed something in the object that is not saved.
    var isEdited: Bool {
        !changedValues.isEmpty || !bindings.isEmpty || related.values.contains { $0.edit != .none }
    }

    // MARK: Foreign keys

    /// The target is set, which says more than a foreign key that was changed before and not saved. A new entity keeps what it
    /// was given, which may be part of its key: there the target goes before it as well.
    func takeBackKey(_ property: Property) {
        guard state != .unsaved else { return }
        for pair in property.navigation?.constraints ?? [] { values[pair.dependent] = savedValues[pair.dependent] }
    }

    /// No target is set, so a foreign key that names an entity which the store does not have names none any more: there is no
    /// link that could be removed.
    func clearUnknownKey(_ property: Property) {
        let pairs = property.navigation?.constraints ?? []
        let isNamed = pairs.contains { !(values[$0.dependent] ?? .null).isNull }
        // Of a new entity nobody else knows a link.
        guard isNamed, isNew || storedIDs(property)?.isEmpty == true else { return }
        for pair in pairs where !entityType.keyProperties.contains(where: { $0.name == pair.dependent }) {
            values[pair.dependent] = isNew ? nil : .null
        }
    }

    // MARK: Staleness

    /// Whether the store says by now that the property leads to others than were read; nil where it cannot be asked. Reads no
    /// entities.
    func isStale(_ relation: RelatedEntities, _ property: Property, isBackwards: Bool = false) -> Bool? {
        guard let known = relation.read else { return false }
        guard let ids = try? readRelationIDs(property, isBackwards: isBackwards) else { return nil }
        return Set(ids) != Set(known.compactMap(\.entityID))
    }

    /// Forgets targets of single-valued relations that were read and are others by now. Where nobody can be asked, a foreign key
    /// tells that has changed. Collections stay as they were read: somebody may have changed an object in them.
    ///
    /// - Parameter former: the values as they were known before.
    func forgetStaleRelations(besides settled: Set<String>, former: PropertyValues) {
        for (name, relation) in related where relation.edit == .none && relation.isResolved {
            guard let property = entityType.findProperty(name), !property.isCollection else { continue }
            if settled.contains(name) {
                if keyContradicts(relation, property) { relation.unload() }
                continue
            }
            let hasOtherKey = (property.navigation?.constraints ?? []).contains { pair in
                former[pair.dependent] != savedValues[pair.dependent]
            }
            if isStale(relation, property) ?? hasOtherKey { relation.unload() }
        }
    }

    /// Whether a foreign key that was saved names another entity than the relation that was saved with it.
    private func keyContradicts(_ relation: RelatedEntities, _ property: Property) -> Bool {
        let pairs = property.navigation?.constraints ?? []
        guard !pairs.isEmpty, pairs.allSatisfy({ !(savedValues[$0.dependent] ?? .null).isNull }) else { return false }
        guard let target = relation.target else { return true }
        return pairs.contains { pair in
            guard let known = target.savedValues[pair.principal] else { return false }
            return known != savedValues[pair.dependent]
        }
    }

    /// Tells of what could not be read where nobody can be told by an error.
    func report(_ error: TidelogError, _ property: Property) {
        factory?.logger.error("\(property) cannot be read: \(error)")
    }
}
