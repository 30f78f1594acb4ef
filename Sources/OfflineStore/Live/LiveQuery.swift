import EDM
import ODataQuery

/// The results of a query: the first one at once, and a new one after each change of the result.
///
/// The query runs again after a transaction has changed a table that the last result depends on. A new result is
/// returned only if it differs from the last one. A slow reader receives the newest result with the causes of all
/// changes meanwhile; nothing is buffered. `now()` is the time of each evaluation, and its progress alone is no change.
///
/// The sequence ends when the store is closed or the reader's task is cancelled. It throws, and ends, if the query
/// cannot be answered; new metadata can cause this even for a query that worked before. Each iterator starts from the
/// beginning.
public struct LiveQuery: AsyncSequence, Sendable {
    public typealias Element = LiveResult
    /// The error with which the sequence ends.
    public typealias Failure = TidelogError

    let store: LocalStore
    let request: Request

    enum Request: Sendable {
        case url(String)
        case set(ResourcePath, QueryOptions)
        case related(EntityAddress, Property, QueryOptions)
    }

    public func makeAsyncIterator() -> AsyncIterator {
        let observer = LiveObserver()
        store.core.observers.add(observer)
        return AsyncIterator(query: self, observer: observer)
    }

    /// An iterator for one reader. It must not be used by two tasks at the same time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let query: LiveQuery
        let observer: LiveObserver
        private var last: QueryAnswer?

        init(query: LiveQuery, observer: LiveObserver) {
            self.query = query
            self.observer = observer
        }

        /// Waits for the next result. Returns nil at the end.
        ///
        /// - Throws: `invalidRequest`, `notFound` or `unsupported` if the query cannot be answered; `damaged` or
        ///   `storage` if the store cannot be read. The sequence has ended then.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(TidelogError) -> LiveResult? {
            var causes: Set<ChangeCause> = []
            while true {
                guard await observer.isDue(), let answer = try await query.store.answer(query.request, observer) else {
                    return nil
                }
                causes.formUnion(answer.causes)
                guard answer.answer != last else { continue }
                let result = LiveResult(answer.answer, after: last, causes: last == nil ? [] : causes)
                last = answer.answer
                return result
            }
        }
    }
}
