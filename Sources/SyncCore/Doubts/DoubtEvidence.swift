/// The evidence about creates in doubt with the same content, and the conclusion from it.
///
/// It is a pure value. All counts refer to one group: creates in doubt that were sent with equal content and are
/// interchangeable. Most groups contain one create.
package struct DoubtEvidence: Sendable, Hashable {
    /// The extent to which the service could be searched.
    package enum Search: Sendable, Hashable {
        /// All entities with the most distinctive value were returned.
        case conclusive
        /// All entities that have every value were returned. Those with only one of the values may have been too many.
        case narrow
        /// No search was possible, for this reason: a sentence without its full stop.
        case impossible(String)
    }

    /// The number of creates in doubt with this content.
    package var creates = 1
    /// Whether other operations in doubt have similar but not equal content, so that an entity could belong to either.
    package var hasNeighbours = false
    package var search = Search.conclusive
    /// The number of entities with the content that the store did not have when the batch was prepared.
    package var candidates = 0
    /// The number of entities with the content that a download has stored since the batch was prepared, and that are in
    /// use.
    package var broughtSince = 0
    /// The number of entities that share a distinctive value and differ in a second one.
    package var lookalikes = 0
    /// The weight of the match between the candidates and the sent content, in bits.
    package var bits = 0.0
    /// Whether the store had all entities of the set, so that an unknown one is new.
    package var knowsWholeSet = false
    /// Whether the lost request can no longer be running.
    package var isWaitOver = false

    package init() {}

    /// The number of bits from which a value is distinctive.
    package static let tellingBits = 8.0
    /// The number of bits that identify an unknown entity as the created one if all other entities are known.
    package static let bitsAmongKnown = 12.0
    /// The same number if the set may contain older entities that the store has never received.
    package static let bitsAmongUnknown = 32.0

    package enum Verdict: Sendable, Hashable {
        /// This number of creates took effect, and each receives one of the candidates. The other creates did not take
        /// effect.
        case adopt(Int)
        /// None of the creates took effect.
        case absent
        /// The lost request may still be running.
        case wait
        /// The user has to decide, for this reason: a sentence.
        case undecided(String)
    }

    package var verdict: Verdict {
        if case .impossible(let reason) = search { return .undecided(reason + ".") }
        if hasNeighbours {
            return .undecided(
                "Another operation in doubt created an entity with the same values, so an entity that is found may belong to either."
            )
        }
        if broughtSince > 0 {
            return .undecided(
                "A download delivered \(Self.entities(broughtSince)) with its values after it was sent, and pending operations use it."
            )
        }
        if candidates > creates {
            return .undecided(
                "The service has \(Self.entities(candidates)) with its values that the store did not know before, for "
                    + (creates == 1 ? "one create." : "\(creates) creates."))
        }
        if candidates > 0, bits < requiredBits {
            return .undecided(
                "The service has \(Self.entities(candidates)) with its values, but these are too common to prove that "
                    + (knowsWholeSet
                        ? "no other client created it." : "it is new, because no defining query covers the whole set.")
            )
        }
        if candidates == creates { return .adopt(creates) }
        if lookalikes > 0 {
            return .undecided(
                "The service has \(Self.entities(lookalikes)) that agree with it in some but not all values, and may be the created one."
            )
        }
        guard search == .conclusive else {
            return .undecided("The service has too many entities with these values for a complete search.")
        }
        guard isWaitOver else { return .wait }
        return candidates > 0 ? .adopt(candidates) : .absent
    }

    private var requiredBits: Double { knowsWholeSet ? Self.bitsAmongKnown : Self.bitsAmongUnknown }

    private static func entities(_ count: Int) -> String { count == 1 ? "an entity" : "\(count) entities" }
}
