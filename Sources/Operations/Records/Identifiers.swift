/// The store's own, permanent name of an entity. Given when the entity first enters the log, never changed, never reused;
/// records, links and pending operations refer to it and never to keys.
public struct EntityID: RawRepresentable, Sendable, Hashable, Comparable, CustomStringConvertible {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public static func < (a: EntityID, b: EntityID) -> Bool { a.rawValue < b.rawValue }

    /// As it stands in a local readLink, `Customers(~7)`.
    public var description: String { "~\(rawValue)" }
}

/// The place of a record in the log: 1 for the first, one more for each that follows, no gaps.
public typealias SequenceNumber = UInt64

/// Milliseconds since 1970-01-01T00:00:00Z, as the clock said when the record was made. Data, never an order.
public typealias Timestamp = Int64

/// Names one `$batch` request of this store; counted up from 1.
public typealias BatchID = UInt64
