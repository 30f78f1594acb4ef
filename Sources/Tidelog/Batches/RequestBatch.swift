public import ODataWire
public import OfflineStore

/// Change sets and queries that run in order; see ``DataService/processBatch(_:)``.
public final class RequestBatch {
    enum BatchItem {
        case changes(ChangeSet)
        case query(DataQuery, HTTPHeaders, QueryResult?)
    }

    var parts: [BatchItem] = []
    /// The conditions of parts, by their numbers.
    var conditions: [Int: BatchCondition] = [:]

    /// Creates an empty batch.
    public init() {}

    /// Adds a change set.
    ///
    /// - Parameters:
    ///   - changes: the change set.
    ///   - condition: a condition about earlier parts. If it is not true, the change set is not executed, which is no
    ///     error, and ``ChangeSet/isApplied`` remains false. Without a condition, the change set is executed if no
    ///     earlier part failed.
    /// - Returns: The number of the part, for conditions of later ones.
    @discardableResult
    public func addChanges(_ changes: ChangeSet, if condition: BatchCondition? = nil) -> Int {
        add(.changes(changes), condition)
    }

    /// Adds a query.
    ///
    /// - Parameters:
    ///   - query: the query.
    ///   - headers: additional headers of this part of the batch.
    ///   - condition: a condition about earlier parts, without which the query has no result.
    /// - Returns: The number of the query, to be passed to ``queryResult(_:)``.
    @discardableResult
    public func addQuery(
        _ query: DataQuery, headers: HTTPHeaders = .empty, if condition: BatchCondition? = nil
    ) -> Int {
        add(.query(query, headers, nil), condition)
    }

    private func add(_ part: BatchItem, _ condition: BatchCondition?) -> Int {
        precondition(
            condition?.parts.allSatisfy(parts.indices.contains) != false, "A condition may only refer to earlier parts."
        )
        conditions[parts.count] = condition
        parts.append(part)
        return parts.count - 1
    }

    /// Returns the result of a query.
    ///
    /// - Parameter number: the number that ``addQuery(_:headers:if:)`` returned.
    /// - Throws: `invalidRequest` if the batch has not run, or if `number` is not the number of a query.
    public func queryResult(_ number: Int) throws(TidelogError) -> QueryResult {
        guard parts.indices.contains(number), case .query(_, _, let result?) = parts[number] else {
            throw TidelogError(.invalidRequest, "Part \(number) of the batch is not a query, or has not run.")
        }
        return result
    }
}
