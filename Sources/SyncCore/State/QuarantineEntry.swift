public import Operations

/// An entity that could not be taken, and when it came.
public struct QuarantineEntry: Sendable, Hashable {
    /// The record that says so.
    public var sequence: SequenceNumber
    public var time: Timestamp
    public var entity: QuarantinedEntity

    public init(sequence: SequenceNumber, time: Timestamp, entity: QuarantinedEntity) {
        self.sequence = sequence
        self.time = time
        self.entity = entity
    }
}
