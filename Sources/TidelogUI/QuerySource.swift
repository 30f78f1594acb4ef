import Tidelog

/// A list, and the query that it shows. It begins a new one only if the service, the set or the query has changed.
@MainActor final class QuerySource<Entity: EntityValue> {
    let list = ObservedList<Entity>()
    private var shown: (service: DataService, set: String?, query: DataQuery)?

    /// Shows the entities of a query; without a service, does nothing.
    func show(_ query: DataQuery, in set: String?, of service: DataService?) {
        guard let service else { return }
        if let shown, shown.service === service, shown.set == set, shown.query == query { return }
        shown = (service, set, query)
        list.observe { () throws(TidelogError) in try service.observe(Entity.self, in: set, matching: query) }
    }
}
