import EDM
public import OfflineStore
public import SyncCore

/// The results of a query as entities: the first at once, and a new one after each change that affects the result.
///
/// Each result contains new entity objects. For the order of results and the end of the sequence, see `LiveQuery`.
public struct LiveEntities: AsyncSequence, Sendable {
    public typealias Element = LiveQueryResult
    /// The error with which the sequence ends.
    public typealias Failure = TidelogError

    let query: LiveQuery
    let service: DataService

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(results: query.makeAsyncIterator(), service: service)
    }

    /// The iterator of the results.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var results: LiveQuery.AsyncIterator
        let service: DataService

        /// Waits for the next result. Returns `nil` at the end.
        ///
        /// - Throws: `invalidRequest`, `notFound` or `unsupported` if the query cannot be answered; `damaged` or
        ///   `storage` if the store cannot be read. The sequence has ended then.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(TidelogError) -> LiveQueryResult? {
            guard let result = try await results.next(isolation: actor) else { return nil }
            // The current model: installing other metadata also makes the query run again. `nil` if the store was
            // closed meanwhile, which ends the results.
            guard let model = service.backend.loadedModel else { return nil }
            return LiveQueryResult(
                result: service.result(result.answer, of: DataQuery(), model), difference: result.difference,
                causes: result.causes)
        }
    }
}

/// One result of ``DataService/observe(_:)``.
public struct LiveQueryResult {
    /// The result with new entity objects.
    public let result: QueryResult
    /// The difference from the previous result, by index in ``QueryResult/entityList()``. In the first result all
    /// entities are insertions.
    public let difference: ListDifference<ResultIdentity>
    /// The causes of all changes since the previous result; empty for the first.
    public let causes: Set<ChangeCause>
}

extension DataService {
    /// Returns the results of a query from now on. Nothing is read before the first result is requested.
    ///
    /// - Throws: `unsupported` online, because a service does not report changes.
    public func observe(_ query: DataQuery) throws(TidelogError) -> LiveEntities {
        LiveEntities(query: try backend.observe(try request(query)), service: self)
    }
}
