package import ODataWire
public import OfflineStore
public import Operations

/// The changes that define a what-if history.
public struct WhatIfChanges: Sendable {
    /// Records to leave out.
    public var skipped: Set<SequenceNumber> = []
    /// Operations to reorder: they occupy their sorted sequence numbers in this order.
    public var order: [SequenceNumber] = []
    /// Responses of the service that replace the real ones, by operation.
    package var answers: [SequenceNumber: WireResponse] = [:]
    /// Additional operations of the app, which follow the record ``insertionPlace``.
    package var insertions: [(intent: Intent, options: IntentOptions)] = []
    /// The record after which the additional operations are inserted; by default the end of the log.
    public var insertionPlace: SequenceNumber = .max

    /// Creates changes without effect: the altered history equals the real one.
    public init() {}

    /// Returns the last record before the first change.
    func base(end: SequenceNumber) -> SequenceNumber {
        var first = min(skipped.min() ?? .max, order.min() ?? .max)
        first = min(first, answers.keys.min() ?? .max)
        first = min(first == 0 || first == .max ? first : first - 1, end)
        return insertions.isEmpty ? first : min(first, insertionPlace)
    }

    /// Returns the record that the altered history has at a position.
    func source(at place: SequenceNumber) -> SequenceNumber {
        guard order.contains(place), let index = order.sorted().firstIndex(of: place) else { return place }
        return order[index]
    }
}

/// A record that the altered history does not contain.
public struct DroppedRecord: Sendable, Hashable {
    /// The reason why a record is missing.
    public enum Reason: Sendable, Hashable {
        /// A rule refuses the operation now, with this message.
        case refused(String)
        /// All of its subjects are missing.
        case pointless
    }

    /// The sequence number in the log.
    public let sequence: SequenceNumber
    /// The reason why the altered history does not contain the record.
    public let reason: Reason
}

/// A record whose outcomes of some operations were not taken over, because the request would have been different or
/// missing, so that the service's response is unknown.
public struct DroppedResponses: Sendable, Hashable {
    /// The sequence number of the record in the log.
    public let sequence: SequenceNumber
    /// The sequence numbers of the operations in the log, in order.
    public let operations: [SequenceNumber]
}

/// An operation with another outcome at the end of the altered history.
public struct OutcomeChange: Sendable, Hashable {
    /// The sequence number in the log.
    public let sequence: SequenceNumber
    /// The outcome in the real history, as in ``OperationOutcome/name``, or `done` if the operation has ended or was
    /// undone.
    public let real: String
    /// The outcome in the altered history, in the same form.
    public let altered: String
    /// The service's rejection in the altered history, preceded by the status; nil if there is none.
    public let refusal: String?
}

/// The comparison of the real history with the altered one.
public struct WhatIfReport: Sendable {
    /// The state at the end of the real history. Entity IDs have the same meaning in both.
    public let real: HistoricalStore
    /// The state at the end of the altered history.
    public let altered: HistoricalStore
    /// In order, at most ``listLimit`` of them.
    public internal(set) var withoutPlace: [DroppedRecord] = []
    /// The number of dropped records, including those beyond ``listLimit``.
    public internal(set) var countWithoutPlace = 0
    /// In order, at most ``listLimit`` of them.
    public internal(set) var droppedAnswers: [DroppedResponses] = []
    /// In order, at most ``listLimit`` of them.
    public internal(set) var standings: [OutcomeChange] = []
    /// The sequence numbers of the inserted operations in the altered history.
    public internal(set) var inserted: [SequenceNumber] = []
    /// The requests that would be sent next in the real history: method, URL and body, one line each.
    public internal(set) var realPlan: [String] = []
    /// The requests that would be sent next in the altered history, in the same form.
    public internal(set) var alteredPlan: [String] = []

    /// The maximum number of items in each list of the report.
    public static let listLimit = 1_000
}
