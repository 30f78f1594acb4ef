public import Operations

/// An entity that a download delivered and the store could not accept, with the time.
public struct QuarantineEntry: Sendable, Hashable {
    /// The record that reports it.
    public var sequence: SequenceNumber
    /// The time of that record.
    public var time: Timestamp
    /// The refused entity and the reason.
    public var entity: QuarantinedEntity

    package init(sequence: SequenceNumber, time: Timestamp, entity: QuarantinedEntity) {
        self.sequence = sequence
        self.time = time
        self.entity = entity
    }
}
