public import OfflineStore
public import Operations

/// A condition on the state of a store: a query whose result is not empty.
///
/// An entity or a set holds if it contains an entity, `$count` if it is greater than 0, and a property or expression if
/// it is neither null nor false. A path that leads nowhere does not hold, nor does any condition before the store has
/// metadata. In a history with changing metadata, a condition does not hold at a position whose metadata lack names
/// that it uses; if the metadata of all positions lack them, that is an error. `now()` is the time of the last record
/// of the state.
public struct StateCondition: Sendable, Hashable, CustomStringConvertible {
    /// The original text: `Customers?$filter=Rating gt 3`, `Orders(5)`, `Orders/$count`.
    public let text: String

    /// Creates a condition without checking it, because its names depend on the metadata of a store.
    public init(_ text: String) { self.text = text }

    public var description: String { text }

    /// Returns whether the condition holds for a historical state.
    ///
    /// - Throws: `invalidRequest` if the text is no valid query under the metadata of that state.
    public func holds(in past: HistoricalStore, at time: Timestamp) async throws(TidelogError) -> Bool {
        try await past.store.trials.holds(text, at: time)
    }
}
