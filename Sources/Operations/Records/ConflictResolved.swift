/// What was decided where somebody else changed an entity on which operations are pending.
///
/// The operations stay in the log as they were made; this says what of them does not hold any more. Values that were agreed
/// upon, being neither side's, follow as an update of their own.
public struct ConflictResolved: Sendable, Hashable {
    public var entity: EntityID
    public var decision: Decision
    /// What operations no longer say.
    public var dropped: [Part]
    /// Operations that are undone, those included that cannot be without the others.
    public var takenBack: [SequenceNumber]
    /// Operations that the service had refused because of the conflict, and that go to it again.
    public var released: [SequenceNumber]

    /// Who or what decided.
    public enum Decision: UInt8, Sendable, Hashable, CaseIterable {
        /// The policy *client wins*.
        case clientWins = 1
        /// The policy *server wins*.
        case serverWins = 2
        /// Both sides changed different things, and both stay.
        case merged = 3
        /// A function of the app.
        case app = 4
        /// A call for this very conflict.
        case call = 5
    }

    /// A part of an update.
    public struct Part: Sendable, Hashable {
        public var operation: SequenceNumber
        public var properties: [String]
        /// Of single-valued navigation properties that the operation binds.
        public var navigations: [String]

        public init(operation: SequenceNumber, properties: [String], navigations: [String] = []) {
            self.operation = operation
            self.properties = properties
            self.navigations = navigations
        }
    }

    public init(
        entity: EntityID, decision: Decision, dropped: [Part] = [], takenBack: [SequenceNumber] = [],
        released: [SequenceNumber] = []
    ) {
        self.entity = entity
        self.decision = decision
        self.dropped = dropped
        self.takenBack = takenBack
        self.released = released
    }
}
