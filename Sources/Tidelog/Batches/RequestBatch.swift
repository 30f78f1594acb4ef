public import ODataWire
public import SyncEngine

/// Change sets and queries that run in order; see ``DataService/processBatch(_:)``.
public final class RequestBatch {
    enum Part {
        case changes(ChangeSet)
        case query(DataQuery, HTTPHeaders, QueryResult?)
    }

    var parts: [Part] = []

    /// Creates an empty batch.
    public init() {}

    /// Adds a change set.
    public func addChanges(_ changes: ChangeSet) { parts.append(.changes(changes)) }

    /// Adds a query.
    ///
    /// - Parameters:
    ///   - query: the query.
    ///   - headers: additional headers of this part of the batch.
    /// - Returns: The number of the query, to be passed to ``queryResult(_:)``.
    @discardableResult
    public func addQuery(_ query: DataQuery, headers: HTTPHeaders = .empty) -> Int {
        parts.append(.query(query, headers, nil))
        return parts.count - 1
    }

    /// Returns the result of a query.
    ///
    /// - Parameter number: the number that ``addQuery(_:)`` returned.
    /// - Throws: `invalidRequest` if the batch has not run, or if `number` is not the number of a query.
    public func queryResult(_ number: Int) throws(TidelogError) -> QueryResult {
        guard parts.indices.contains(number), case .query(_, _, let result?) = parts[number] else {
            throw TidelogError(.invalidRequest, "Part \(number) of the batch is not a query, or has not run.")
        }
        return result
    }
}
