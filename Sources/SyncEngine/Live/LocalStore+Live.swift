public import EDM
public import ODataWire
import Views

extension LocalStore {
    /// Returns the results of an OData query from now on; see ``LiveQuery``.
    public nonisolated func observe(_ url: String) -> LiveQuery { LiveQuery(store: self, request: .url(url)) }

    public nonisolated func observe(path: ResourcePath, options: QueryOptions) -> LiveQuery {
        LiveQuery(store: self, request: .set(path, options))
    }

    /// Returns the results for a navigation property of an entity from now on.
    public nonisolated func observe(
        _ address: EntityAddress, _ property: Property, _ options: QueryOptions
    ) -> LiveQuery { LiveQuery(store: self, request: .related(address, property, options)) }

    /// Computes a result for an observer, and stores the tables that it depends on.
    ///
    /// The store is an actor, so nothing can change in between. Returns nil if the store is closed.
    func answer(
        _ request: LiveQuery.Request, _ observer: LiveObserver
    ) throws(TidelogError) -> (answer: QueryAnswer, causes: Set<ChangeCause>)? {
        guard !isClosed else { return nil }
        do throws(TidelogError) {
            if !storedViews.tracksPendingStates {
                // Changes before the first observer are not reported.
                storedViews.tracksPendingStates = true
                _ = try read { _ in try views.drainChangedTables() }
            }
            let causes = observer.begin()
            _ = storedViews.drainReadTables()
            let answer = try answer(request)
            observer.answered(from: try isAboutQueue(request) ? nil : storedViews.drainReadTables())
            return (answer, causes)
        } catch {
            observer.end()
            throw error
        }
    }

    func answer(_ request: LiveQuery.Request) throws(TidelogError) -> QueryAnswer {
        switch request {
        case .url(let url): try query(url)
        case .set(let path, let options): try query(path: path, options: options)
        case .related(let address, let property, let options): try related(address, property, options)
        }
    }

    /// Returns whether the request reads the queue, whose tables almost every transaction changes.
    private func isAboutQueue(_ request: LiveQuery.Request) throws(TidelogError) -> Bool {
        switch request {
        case .url(let url): return try queueURL(url) != nil
        case .set(let path, _):
            guard case .entitySet(let set)? = path.segments.first else { return false }
            return set == QueueModel.model.findEntitySet(set.name)
        case .related: return false
        }
    }
}
