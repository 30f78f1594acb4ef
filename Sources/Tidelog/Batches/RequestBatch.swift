public import SyncEngine

/// Change sets and queries that run one after another; see ``DataService/processBatch(_:)``.
public final class RequestBatch {
    enum Part {
        case changes(ChangeSet)
        case query(DataQuery, QueryResult?)
    }

    var parts: [Part] = []

    public init() {}

    public func addChanges(_ changes: ChangeSet) { parts.append(.changes(changes)) }

    /// Returns the number under which ``queryResult(_:)`` finds the answer.
    @discardableResult
    public func addQuery(_ query: DataQuery) -> Int {
        parts.append(.query(query, nil))
        return parts.count - 1
    }

    /// What the query found. Throws `invalidRequest` before the batch has run, or for a number that is no query's.
    public func queryResult(_ number: Int) throws(TidelogError) -> QueryResult {
        guard parts.indices.contains(number), case .query(_, let result?) = parts[number] else {
            throw TidelogError(.invalidRequest, "Part \(number) of the batch is no query, or has not run.")
        }
        return result
    }
}
