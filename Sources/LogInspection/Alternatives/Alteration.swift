public import ODataWire
public import Operations
public import SyncEngine

/// What is to be otherwise in a history.
public struct Alteration: Sendable {
    /// Records that were never made.
    public var skipped: Set<SequenceNumber> = []
    /// Operations that take each other's places: the lowest of their numbers is that of the first, and so on.
    public var order: [SequenceNumber] = []
    /// What the service answers to operations, in place of what it did.
    public var answers: [SequenceNumber: WireResponse] = [:]
    /// What the app does besides, behind the place ``insertionPlace``, one after another.
    public var insertions: [(intent: Intent, options: IntentOptions)] = []
    public var insertionPlace: SequenceNumber = .max

    public init() {}

    /// Everything up to there is as it was.
    func base(end: SequenceNumber) -> SequenceNumber {
        var first = min(skipped.min() ?? .max, order.min() ?? .max)
        first = min(first, answers.keys.min() ?? .max)
        first = min(first == 0 || first == .max ? first : first - 1, end)
        return insertions.isEmpty ? first : min(first, insertionPlace)
    }

    /// The record that stands at a place.
    func source(at place: SequenceNumber) -> SequenceNumber {
        guard order.contains(place), let index = order.sorted().firstIndex(of: place) else { return place }
        return order[index]
    }
}

/// A record that has no place in the altered history.
public struct AlteredRecord: Sendable, Hashable {
    public enum Fate: Sendable, Hashable {
        /// A rule refuses the operation now, in these words.
        case refused(String)
        /// All that it was about is missing.
        case pointless
    }

    /// The number that it has in the log.
    public let sequence: SequenceNumber
    public let fate: Fate
}

/// A record with answers to operations that are not taken as they were: what was sent would have been something else, or
/// nothing, and how the service would have answered that nobody knows.
public struct DroppedAnswers: Sendable, Hashable {
    /// The number of the record in the log.
    public let sequence: SequenceNumber
    /// Their numbers in the log, in order.
    public let operations: [SequenceNumber]
}

/// An operation that stands otherwise at the end of the altered history.
public struct AlteredStanding: Sendable, Hashable {
    /// The number that it has in the log.
    public let sequence: SequenceNumber
    /// How it stands in both, as ``OperationFate/name`` says it; `done` where it has ended or was undone.
    public let real: String
    public let altered: String
    /// Why the service refuses it in the altered history, in its words with the status in front; nil where it does not.
    public let refusal: String?
}

/// The history as it was beside the one that it would have been.
public struct AlternativeReport: Sendable {
    /// The states at the end of both; entity IDs mean the same in both.
    public let real: PastStore
    public let altered: PastStore
    /// In order, at most ``listLimit`` of them.
    public internal(set) var withoutPlace: [AlteredRecord] = []
    public internal(set) var countWithoutPlace = 0
    /// In order, at most ``listLimit`` of them.
    public internal(set) var droppedAnswers: [DroppedAnswers] = []
    /// In order, at most ``listLimit`` of them.
    public internal(set) var standings: [AlteredStanding] = []
    /// The numbers of what was inserted, in the altered history.
    public internal(set) var inserted: [SequenceNumber] = []
    /// What would be sent next, request by request: method, URL and body in a line.
    public internal(set) var realPlan: [String] = []
    public internal(set) var alteredPlan: [String] = []

    public static let listLimit = 1_000
}
