/// The resolution of a conflict: another client changed an entity that has pending operations.
///
/// The operations stay in the log unchanged; this record contains the parts that are no longer valid. Agreed values
/// that are neither side's follow as an update.
package struct ConflictResolved: Sendable, Hashable {
    package var entity: EntityID
    package var decision: Decision
    /// The parts that are removed from operations.
    package var dropped: [PartialUpdate]
    /// The undone operations, including dependent ones.
    package var takenBack: [SequenceNumber]
    /// The operations that the service rejected because of the conflict and that are sent again.
    package var released: [SequenceNumber]

    package typealias Decision = ConflictDecision

    /// A part of an update.
    package struct PartialUpdate: Sendable, Hashable {
        package var operation: SequenceNumber
        package var properties: [String]
        /// Single-valued navigation properties that the operation binds.
        package var navigations: [String]

        package init(operation: SequenceNumber, properties: [String], navigations: [String] = []) {
            self.operation = operation
            self.properties = properties
            self.navigations = navigations
        }
    }

    package init(
        entity: EntityID, decision: Decision, dropped: [PartialUpdate] = [], takenBack: [SequenceNumber] = [],
        released: [SequenceNumber] = []
    ) {
        self.entity = entity
        self.decision = decision
        self.dropped = dropped
        self.takenBack = takenBack
        self.released = released
    }
}

/// The origin of the resolution of a conflict.
public enum ConflictDecision: UInt8, Sendable, Hashable, CaseIterable {
    /// The policy *client wins*.
    case clientWins = 1
    /// The policy *server wins*.
    case serverWins = 2
    /// Both sides changed different parts, and both changes are kept.
    case merged = 3
    /// A function of the app.
    case app = 4
    /// A call for this conflict.
    case call = 5
}
