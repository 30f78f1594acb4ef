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
            let name = Self.navigation(end, properties)
            var targets: [EntityID] = []
            for link in known where isLocal ? link.inLocal : link.inBase {
                let target = end.isFirst ? link.second : link.first
                if try Self.shows(target, by: properties.first { $0.name == name }, of: row, in: fold) {
                    targets.append(target)
                }
            }
            if !targets.isEmpty { links[name] = targets.sorted() }
        }
    }

    /// Returns whether a query shows the target: a draft is a target only of properties that are bound to its set.
    private static func shows(
        _ target: EntityID, by property: Property?, of row: EntityRow, in fold: Fold
    ) throws(StateError) -> Bool {
        guard let model = fold.model, let name = try fold.storage.set(of: target),
            model.findEntitySet(name)?.activeSet != nil, let set = model.findEntitySet(row.set)
        else { return true }
        guard let property else { return set.activeSet != nil }
        return model.target(of: property, in: set)?.name == name
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
