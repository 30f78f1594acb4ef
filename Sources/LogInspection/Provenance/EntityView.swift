import EDM
import Operations
import SyncCore

/// An entity in the current state or in the base state.
struct EntityView: Equatable {
    /// The row, or nil if the entity does not exist.
    var row: EntityRow?
    /// The targets by navigation property, in order of their IDs. Empty navigation properties are omitted.
    var links: [String: [EntityID]] = [:]

    var values: PropertyValues { row?.values ?? [:] }

    init() {}

    /// Reads an entity.
    ///
    /// - Parameter isLocal: Whether to read the current state instead of the base state.
    init(_ id: EntityID, in fold: Fold, isLocal: Bool) throws(StateError) {
        row = isLocal ? try fold.storage.row(id) : try fold.storage.serviceRow(id)
        guard let row, let index = fold.index else { return }
        let properties = fold.model?.findEntityType(row.type)?.navigationProperties ?? []
        for end in index.ends(of: row.set) {
            let known =
                end.isFirst
                ? try fold.storage.links(end.relationship, first: id)
                : try fold.storage.links(end.relationship, second: id)
            let targets = known.filter { isLocal ? $0.inLocal : $0.inBase }.map { end.isFirst ? $0.second : $0.first }
            if !targets.isEmpty { links[Self.navigation(end, properties)] = targets.sorted() }
        }
    }

    /// Returns the navigation property of an end. An end without one has the name of the other end with its set, such
    /// as `Employees/Manager` for the employees of a manager.
    static func navigation(_ end: RelationshipIndex.End, _ properties: [Property]) -> String {
        let way = Relationship(name: end.relationship, isForward: end.isFirst)
        return properties.first { $0.navigation?.relationship == way }?.name ?? end.name
    }

    static func == (a: EntityView, b: EntityView) -> Bool {
        (a.row == nil) == (b.row == nil) && a.values == b.values && a.links == b.links
    }
}
