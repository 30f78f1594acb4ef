/// What is known of creates in doubt with the same content, and what follows from it.
///
/// A pure value: all counts are of one group, the creates in doubt that were sent with equal content and may stand for each
/// other. Most groups have one.
public struct DoubtEvidence: Sendable, Hashable {
    /// How far the service could be searched.
    public enum Search: Sendable, Hashable {
        /// All entities with the most telling value came.
        case conclusive
        /// The entities came that have all values; others with one of them may have been too many.
        case narrow
        /// It could not be, for this reason: a sentence without its full stop.
        case impossible(String)
    }

    /// How many creates in doubt have this content.
    public var creates = 1
    /// Whether others in doubt are alike without being equal, so that an entity could be either's.
    public var hasNeighbours = false
    public var search = Search.conclusive
    /// Entities with the content that the store did not know when the batch was prepared.
    public var candidates = 0
    /// Entities with the content that a download has brought since the batch was prepared, and that are in use.
    public var broughtSince = 0
    /// Entities that share a telling value and differ in another one.
    public var lookalikes = 0
    /// How much the candidates have in common with what was sent, in bits.
    public var bits = 0.0
    /// Whether the store had all entities of the set, so that one that it did not know is new.
    public var knowsWholeSet = false
    /// Whether the lost request can no longer be running.
    public var isWaitOver = false

    public init() {}

    /// From how many bits on a value tells an entity from others.
    public static let tellingBits = 8.0
    /// How many bits make an unknown entity the one that was created, if all others are known.
    public static let bitsAmongKnown = 12.0
    /// The same if the set may have older entities that the store has never seen.
    public static let bitsAmongUnknown = 32.0

    public enum Verdict: Sendable, Hashable {
        /// So many of the creates took effect; each gets one of the candidates. The others did not.
        case adopt(Int)
        /// None took effect.
        case absent
        /// The lost request may still be running.
        case wait
        /// A person has to look, for this reason: a sentence.
        case undecided(String)
    }

    public var verdict: Verdict {
        if case .impossible(let reason) = search { return .undecided(reason + ".") }
        if hasNeighbours {
            return .undecided("Another operation in doubt created something like it, so an entity could be either's.")
        }
        if broughtSince > 0 {
            return .undecided(
                "A download has brought \(Self.entities(broughtSince)) with its values since it was sent, and it is in use here."
            )
        }
        if candidates > creates {
            return .undecided(
                "The service has \(Self.entities(candidates)) with its values that were not known before, for "
                    + (creates == 1 ? "one create." : "\(creates) creates."))
        }
        if candidates > 0, bits < requiredBits {
            return .undecided(
                "The service has \(Self.entities(candidates)) with its values, but these are too common to prove that "
                    + (knowsWholeSet ? "nobody else created it." : "it is new: no defining query brings the whole set.")
            )
        }
        if candidates == creates { return .adopt(creates) }
        if lookalikes > 0 {
            return .undecided(
                "The service has \(Self.entities(lookalikes)) with a value of it and others that differ, which may be it."
            )
        }
        guard search == .conclusive else {
            return .undecided("The service has too many entities with these values to tell that none is missing.")
        }
        guard isWaitOver else { return .wait }
        return candidates > 0 ? .adopt(candidates) : .absent
    }

    private var requiredBits: Double { knowsWholeSet ? Self.bitsAmongKnown : Self.bitsAmongUnknown }

    private static func entities(_ count: Int) -> String { count == 1 ? "an entity" : "\(count) entities" }
}
