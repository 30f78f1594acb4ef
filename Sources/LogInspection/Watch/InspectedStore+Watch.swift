public import OfflineStore
import OperationLog
public import Operations

/// A record that changes the value of a condition.
public struct ConditionChange: Sendable, Hashable {
    /// The sequence number of the record.
    public let sequence: SequenceNumber
    /// A Boolean value that indicates whether the condition holds after the record.
    public let holds: Bool
    /// The record; nil if it cannot be decoded or is not the cause.
    package let entry: HistoryEntry?
    /// A Boolean value that indicates whether a snapshot caused the change and not the record, because records before
    /// the snapshot are lost.
    public let isRestored: Bool
}

/// The result of a watch.
public struct WatchReport: Sendable {
    /// The last folded record.
    public internal(set) var last: SequenceNumber
    /// A Boolean value that indicates whether the condition holds after it.
    public internal(set) var holds: Bool
    /// The first position of the watch.
    public let first: SequenceNumber
    /// A Boolean value that indicates whether the condition held there.
    public let heldAtFirst: Bool
    /// The number of records that were read.
    public internal(set) var records = 0
    /// The number of evaluations. The condition is evaluated only after changes of its tables.
    public internal(set) var evaluations = 0
    /// The number of changes of the condition's value.
    public internal(set) var flips = 0
    /// Whether the metadata contained the names that the condition uses, at one position at least.
    var isKnown = false
    /// The error at positions where they did not.
    var refusal: TidelogError?

    /// Returns the report, or throws if no metadata contained the names, which are then misspelt.
    func checked() throws(TidelogError) -> WatchReport {
        if !isKnown, let refusal { throw refusal }
        return self
    }

    /// Adds the values of a range of records.
    mutating func add(_ stretch: WatchedRange) {
        records += stretch.records
        evaluations += stretch.evaluations
        isKnown = isKnown || stretch.isKnown
        refusal = refusal ?? stretch.refusal
    }

    mutating func add(_ other: WatchReport) {
        records += other.records
        evaluations += other.evaluations
        isKnown = isKnown || other.isKnown
        refusal = refusal ?? other.refusal
    }
}

extension InspectedStore {
    /// Calls `body` for each record in a range that changes the value of the condition, in order.
    ///
    /// Cost: the records of the range are folded once, from the newest snapshot that is not after its beginning. After
    /// lost records, the watch continues with the state of the next snapshot.
    /// - Parameter body: Returns whether to continue.
    /// - Throws: `invalidRequest` if no metadata in the range contain the names that the condition uses; `notFound` if
    ///   a compaction has removed the records of `first`; `noStore` if there is no log; the errors of `body`.
    public func watch(
        _ condition: StateCondition, from first: PointInTime, through last: PointInTime,
        _ body: (ConditionChange) throws(TidelogError) -> Bool
    ) async throws(TidelogError) -> WatchReport {
        var reported: SequenceNumber = 0
        return try await salvaging { store throws(TidelogError) in
            let reader = try store.openReader()
            let start = try store.sequence(of: first, reader)
            let range = start...max(start, try store.sequence(of: last, reader))
            let watch = ConditionWatch(store, condition, reader)
            let report = try await watch.changes(in: range) { flip throws(TidelogError) in
                // Flips before the damage are the same without it.
                guard flip.sequence > reported else { return true }
                reported = flip.sequence
                return try body(flip)
            }
            return try report.checked()
        }
    }

    /// Returns the last record before a position that changes the value of the condition, or nil if there is none.
    ///
    /// It searches after the last snapshot first, then before it, and so on, so it is expensive if the flip is far
    /// back.
    ///
    /// - Throws: `invalidRequest` if no metadata in the range contains the names that the condition uses; `notFound` if
    ///   a compaction has removed the records of `first`; `noStore` if there is no log.
    public func lastFlip(
        _ condition: StateCondition, from first: PointInTime, before last: PointInTime
    ) async throws(TidelogError) -> (flip: ConditionChange?, report: WatchReport) {
        try await salvaging { store throws(TidelogError) in
            let reader = try store.openReader()
            let start = try store.sequence(of: first, reader)
            let end = max(start, try store.sequence(of: last, reader))
            return try await ConditionWatch(store, condition, reader).lastChange(from: start, before: end)
        }
    }
}
