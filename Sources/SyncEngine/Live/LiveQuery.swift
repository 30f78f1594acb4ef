import EDM
import ODataWire

/// The results of a query: the first at once, and another one whenever something changed that makes it another one.
///
/// The query is asked again where a transaction of the store changed a table that the last answer came from, and told where
/// the answer is not equal to the last. A reader that is slow gets the newest answer, with the causes of all that happened
/// meanwhile; nothing is kept for it. `now()` is the time of each answer, and a clock that goes on is no change.
///
/// Ends when the store is closed or the reader's task is cancelled. Throws where the query cannot be answered, and ends with
/// that: also where it could be before, and other metadata have come to hold. Each iterator begins anew.
public struct LiveQuery: AsyncSequence, Sendable {
    public typealias Element = LiveResult
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
        store.observers.add(observer)
        return AsyncIterator(query: self, observer: observer)
    }

    /// One reader. Not to be asked by two tasks at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let query: LiveQuery
        let observer: LiveObserver
        private var last: QueryAnswer?

        init(query: LiveQuery, observer: LiveObserver) {
            self.query = query
            self.observer = observer
        }

        /// Waits for the next result. Nil at the end.
        @inline(never) @_optimize(none)
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
