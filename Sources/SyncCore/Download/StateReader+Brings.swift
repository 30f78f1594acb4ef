import EDM
import ODataQuery
import Operations

extension StateReader {
    /// Returns whether a defining query contains an entity of a contained set: its path leads to the entity's location,
    /// or it expands the containment path from an entity that it contains.
    func brings(
        _ query: DefiningQuery, _ id: EntityID, in set: EntitySet, _ model: EntityDataModel
    ) throws(StateError) -> Bool {
        guard let request = try? ServiceRequest.parse(query.query, model: model, version: model.version),
            let path = ContainmentPath(request.path, model)
        else { return false }
        // From the entity up to the query's set, and down again along the expansions.
        var steps: [String] = []
        var (current, own) = (id, set)
        while own != path.set {
            guard let containment = own.containment, let parent = try container(of: current, in: own) else {
                return false
            }
            steps.insert(containment.navigation.name, at: 0)
            (current, own) = (parent, containment.parent)
        }
        var items = request.options.expand
        for step in steps {
            guard let item = items.first(where: { $0.path.last == .name(step) && $0.form == .entities }) else {
                return false
            }
            items = item.options.expand
        }
        guard current == id else { return try bookkeeping.isCovered(current, by: query.name) }
        guard let parent = path.parent else { return false }
        let names = EntityNames(storage: self, model: model, serviceRoot: "")
        return try names.entity(at: parent) == container(of: id, in: set)
    }
}
