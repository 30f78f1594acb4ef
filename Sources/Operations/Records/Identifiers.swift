/// The permanent ID of an entity in a store.
///
/// Assigned when the entity first enters the log, never changed, never reused. Records, links and pending operations
/// refer to it and never to keys.
public struct EntityID: RawRepresentable, Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number of the entity, which is unique in the store.
    public let rawValue: UInt64

    /// Creates an ID from its number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public static func < (a: EntityID, b: EntityID) -> Bool { a.rawValue < b.rawValue }

    /// The ID as in a local readLink, `Customers(~7)`.
    public var description: String { "~\(rawValue)" }
}

/// The position of a record in the log: 1 for the first, incremented by 1 for each following record, without gaps.
public typealias SequenceNumber = UInt64

/// Milliseconds since 1970-01-01T00:00:00Z, by the clock when the record was made. Data only; it defines no order.
public typealias Timestamp = Int64

/// The number of a `$batch` request of this store, starting at 1.
public typealias BatchID = UInt64
