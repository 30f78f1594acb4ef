public import Operations
public import SyncEngine

/// Something that holds of the state of a store, or does not: what a query says whose answer is not empty.
///
/// An entity or a set holds where there is one, `$count` where it is above 0, and a property or expression where it is neither
/// null nor false. What leads nowhere does not hold, nor does anything before the store has metadata. Over a history, where
/// metadata change, what those of a place do not know does not hold there; what those of no place know is an error.
/// `now()` is the time of the last record that the state contains.
public struct StateCondition: Sendable, Hashable, CustomStringConvertible {
    /// As it was written: `Customers?$filter=Rating gt 3`, `Orders(5)`, `Orders/$count`.
    public let text: String

    /// Checks nothing: what the text may name is in the metadata of a store.
    public init(_ text: String) { self.text = text }

    public var description: String { text }

    /// Whether it holds of the store as it was.
    ///
    /// - Throws: `invalidRequest` where the text is no query of the metadata that the store has.
    public func holds(in past: PastStore, at time: Timestamp) async throws(TidelogError) -> Bool {
        try await past.store.holds(text, at: time)
    }
}
