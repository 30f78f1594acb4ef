public import Operations

/// The operations to undo.
public enum UndoTarget: Sendable {
    /// These operations. It is an error if one of them cannot be undone.
    case operations([SequenceNumber])
    /// The operations on these entities: their creation, changes and deletion, and separate link operations at either
    /// end. An operation on another entity is kept even if it links to one of these, unless it depends on an undone
    /// one.
    case entities([EntityAddress])
    /// All operations that the service has not processed.
    case everything
}

/// The result of an undo or its rehearsal.
public struct UndoReport: Sendable, Hashable {
    /// All undone operations in order, including dependent ones. They can be passed to a redo.
    public var undone: [SequenceNumber]
    /// The operations in ``undone`` that were not requested, but depend on requested ones.
    public var dependants: [Dependant]
    /// Requested operations that are in flight or in doubt. An upload resolves them.
    public var left: [SequenceNumber]

    /// An operation that was undone because it depends on an undone operation.
    public struct Dependant: Sendable, Hashable {
        /// The sequence number of the operation.
        public var operation: SequenceNumber
        /// The reason: a sentence without a full stop.
        public var reason: String

        /// Creates a dependent operation with the reason of its undo.
        public init(operation: SequenceNumber, reason: String) {
            self.operation = operation
            self.reason = reason
        }
    }

    /// Creates a report from the given lists; by default all are empty.
    public init(undone: [SequenceNumber] = [], dependants: [Dependant] = [], left: [SequenceNumber] = []) {
        self.undone = undone
        self.dependants = dependants
        self.left = left
    }
}
