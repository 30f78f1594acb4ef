import EDM
public import SyncCore
public import SyncEngine

/// The results of a query as entities: the first at once, and another one whenever something changed that makes it another
/// one. Each result has entities of its own.
///
/// What comes when, and when it ends: as `LiveQuery`.
public struct LiveEntities: AsyncSequence {
    public typealias Element = LiveQueryResult
    public typealias Failure = TidelogError

    let query: LiveQuery
    let service: DataService

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(results: query.makeAsyncIterator(), service: service)
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        var results: LiveQuery.AsyncIterator
        let service: DataService

        /// Waits for the next result. Nil at the end.
        @inline(never) @_optimize(none)
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(TidelogError) -> LiveQueryResult? {
            guard let result = try await results.next(isolation: actor) else { return nil }
            // Of now: what the store knows by other metadata was answered by them.
            // None: the store was closed meanwhile, which ends the results.
            guard let model = service.provider.loadedModel else { return nil }
            return LiveQueryResult(
                result: service.result(result.answer, model), difference: result.difference, causes: result.causes)
        }
    }
}

/// A result of ``DataService/observe(_:)``.
public struct LiveQueryResult {
    public let result: QueryResult
    /// From the result before to this one, by places in ``QueryResult/entityList()``. Of the first result, everything is
    /// inserted.
    public let difference: ListDifference<ResultIdentity>
    /// Of all that happened since the result before; empty for the first.
    public let causes: Set<ChangeCause>
}

extension DataService {
    /// The results of a query from now on. Nothing is asked before the first is waited for.
    ///
    /// Throws `unsupported` online: a service does not tell of changes.
    public func observe(_ query: DataQuery) throws(TidelogError) -> LiveEntities {
        LiveEntities(query: try provider.observe(try request(query)), service: self)
    }
}
