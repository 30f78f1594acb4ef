import EDM
import ODataWire
import Operations

/// Entities of a page that cannot be applied, and the stored entities that are kept because of them.
extension PageBuilder {
    /// Quarantines an unreadable entity. Its stored version remains unchanged and stays in the query.
    mutating func addToQuarantine(
        _ found: UnreadableEntity, _ set: EntitySet, below parent: EntityID? = nil,
        expanding branches: [RequestedExpansions.Branch] = []
    ) throws(StateError) {
        guard let id = try builder.addToQuarantine(found, in: set, below: parent) else { return }
        try builder.retain(id, branches)
        keepAll()
    }

    /// Keeps the entities that the builder has marked.
    mutating func keepAll() {
        for id in builder.kept { retain(id) }
        builder.kept = []
    }

    mutating func addToQuarantine(
        tooLarge payload: EntityPayload, _ set: EntitySet, below parent: EntityID?,
        expanding branches: [RequestedExpansions.Branch]
    ) throws(StateError) {
        let (id, name) = try builder.identity(of: payload, in: set, below: parent)
        let expanded = payload.expanded.contains { !$0.entities.isEmpty } ? " with its expanded entities" : ""
        builder.quarantined.append(
            QuarantinedEntity(
                query: query, set: set.name, name: name, entity: id.flatMap { builder.isNew($0) ? nil : $0 },
                reason: .tooLarge,
                message: "The entity\(expanded) has more than \(entityLimit) bytes, the limit of a record of the log.",
                hidesOthers: name == nil || !expanded.isEmpty))
        if let id { try builder.retain(id, branches) }
        keepAll()
    }
}
