package import EDM
import ODataQuery
package import Operations

/// The entities that a defining query contains through `$expand`, and those among them that no longer belong to it
/// after they left a collection.
package struct ExpandedEntities {
    private let storage: WorkingSet
    private let query: String
    private let set: String
    /// The expanded navigation properties, on all levels, from the source to the target.
    ///
    /// Without the sets of their targets, which can depend on the type of each source.
    private var walks: [Relationship] = []

    /// Creates the value, or returns nil if the query's expansions cannot be determined. Then no entity is known to
    /// have left it.
    package init?(of query: DefiningQuery, in storage: WorkingSet, model: EntityDataModel) {
        guard let request = try? ServiceRequest.parse(query.query, model: model, version: model.version) else {
            return nil
        }
        switch request.path.target {
        case .entities(let type, let set?), .entity(let type, let set?):
            self.storage = storage
            self.query = query.name
            self.set = set.name
            guard add(request.options.expand, type, model) else { return nil }
        default: return nil
        }
    }

    /// Adds expansions. Returns false if they cannot be determined.
    private mutating func add(_ items: [ExpandItem], _ type: EntityType, _ model: EntityDataModel) -> Bool {
        for item in items {
            guard item.form == .entities, case .name(let name)? = item.path.last,
                let property = type.findProperty(name) ?? cast(item.path, model)?.findProperty(name),
                let end = property.navigation, let below = model.findEntityType(end.targetType)
            else { return false }
            if !walks.contains(end.relationship) { walks.append(end.relationship) }
            guard add(item.options.expand, below, model) else { return false }
        }
        return true
    }

    private func cast(_ path: [SelectSegment], _ model: EntityDataModel) -> EntityType? {
        guard path.count > 1, case .qualifiedName(let name, _) = path[path.count - 2] else { return nil }
        return model.findEntityType(name)
    }

    /// Returns the entities that the query no longer reaches, including those that it contained only below them.
    ///
    /// - Parameter unlinked: Entities that left a collection.
    package func left(among unlinked: Set<EntityID>) throws(StateError) -> [EntityID] {
        var left: Set<EntityID> = []
        var questions = unlinked.sorted()
        while let id = questions.popLast() {
            guard !left.contains(id), try storage.bookkeeping.isCovered(id, by: query),
                let name = try storage.set(of: id),
                // Entities of the query's own set do not have to be expanded.
                name != set, try !isBelowAnother(id, but: left)
            else { continue }
            left.insert(id)
            for walk in walks { questions += try partners(of: id, walk, backwards: false) }
        }
        return left.sorted()
    }

    private func isBelowAnother(_ id: EntityID, but left: Set<EntityID>) throws(StateError) -> Bool {
        for walk in walks {
            for source in try partners(of: id, walk, backwards: true) where !left.contains(source) {
                if try storage.bookkeeping.isCovered(source, by: query) { return true }
            }
        }
        return false
    }

    /// Returns the partners in the base state.
    private func partners(of id: EntityID, _ walk: Relationship, backwards: Bool) throws(StateError) -> [EntityID] {
        walk.isForward != backwards
            ? try storage.links(walk.name, first: id).filter(\.inBase).map(\.second)
            : try storage.links(walk.name, second: id).filter(\.inBase).map(\.first)
    }
}
