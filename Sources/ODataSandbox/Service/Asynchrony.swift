/// The handling of `Prefer: respond-async` (OData 4.01 Part 1, section 11.6; not available in V2).
public struct Asynchrony: Sendable, Hashable {
    /// The number of times that the status monitor responds that the request is not done yet.
    public var polls: Int
    /// The `Retry-After` value of these responses, in seconds.
    public var retryAfter: Int?
    /// Whether the request takes effect when it is accepted instead of when it is done. It can be cancelled only before
    /// it has taken effect.
    public var startsAtOnce: Bool

    /// Creates the handling with the given number of polls; by default one, without `Retry-After`.
    public init(polls: Int = 1, retryAfter: Int? = nil, startsAtOnce: Bool = false) {
        self.polls = polls
        self.retryAfter = retryAfter
        self.startsAtOnce = startsAtOnce
    }
}
