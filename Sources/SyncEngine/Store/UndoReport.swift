public import Operations

/// Which operations are to be undone.
public enum UndoTarget: Sendable {
    /// These. It is an error where one of them cannot be undone.
    case operations([SequenceNumber])
    /// What was done to these entities: their creation, changes and deletion, and links at either end that were changed by
    /// themselves. An operation on another entity stays, also where it links to one of these; it goes only where it cannot
    /// be without them.
    case entities([EntityAddress])
    /// Everything that no service has.
    case everything
}

/// What an undo took back, or would take back.
public struct UndoReport: Sendable, Hashable {
    /// Everything that is undone with it, in order: what was asked for and what went with it. Give it to a redo to have it
    /// back.
    public var undone: [SequenceNumber]
    /// Those of ``undone`` that were not asked for: they could not have been made without the others.
    public var dependants: [Dependant]
    /// Operations that were meant as well, but are on their way to the service, or in doubt. An upload settles how they end.
    public var left: [SequenceNumber]

    public struct Dependant: Sendable, Hashable {
        public var operation: SequenceNumber
        /// A sentence without a full stop.
        public var reason: String

        public init(operation: SequenceNumber, reason: String) {
            self.operation = operation
            self.reason = reason
        }
    }

    public init(undone: [SequenceNumber] = [], dependants: [Dependant] = [], left: [SequenceNumber] = []) {
        self.undone = undone
        self.dependants = dependants
        self.left = left
    }
}
