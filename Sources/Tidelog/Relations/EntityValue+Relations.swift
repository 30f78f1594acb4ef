import EDM
import ODataWire
import Operations
import SyncEngine

extension EntityValue {
    /// What is known of a navigation property; made where nothing is.
    func relation(_ property: Property) -> RelatedEntities {
        if let known = related[property.name] { return known }
        // Nothing leads from or to an entity that nobody has saved.
        let new = RelatedEntities(base: state == .unsaved ? [] : nil)
        related[property.name] = new
        return new
    }

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

    private static func request(
        _ address: EntityAddress, _ property: Property, _ isBackwards: Bool
    ) -> QueryRequest {
        isBackwards
            ? .sources(address, property, QueryOptions()) : .related(address, property, QueryOptions())
    }

    /// Everything that was set here has been saved.
    func settleRelations() {
        for (name, relation) in related {
            guard let property = entityType.findProperty(name) else { continue }
            let partner = property.navigation?.partner
            let isShared = partner.map { relation.target?.related[$0] != nil } ?? false
            if relation.edit != .none, let partner { tellPartners(relation, partner) }
            relation.settle(isSingle: !property.isCollection, isShared: isShared)
        }
    }

    /// What the entities at the other end know of the relationship is out of date.
    private func tellPartners(_ relation: RelatedEntities, _ partner: String) {
        for entity in relation.list + relation.changes.removed {
            guard let theirs = entity.related[partner], theirs.edit == .none else { continue }
            let isCollection = entity.entityType.findProperty(partner)?.isCollection ?? false
            if !isCollection, theirs.target === self {
                theirs.weaken()
            } else if !theirs.contains(self) {
                theirs.unload()
            }
        }
    }

    /// Tells of what could not be read where nobody can be told by an error.
    func report(_ error: TidelogError, _ property: Property) {
        factory?.logger.error("\(property) cannot be read: \(error)")
    }
}
