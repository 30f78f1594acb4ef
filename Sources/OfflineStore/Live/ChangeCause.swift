import Operations

/// The reason why a query result has changed.
public enum ChangeCause: String, Sendable, Hashable, CaseIterable {
    /// The app created, changed, linked or deleted an entity.
    case localEdit
    /// The app undid or redid operations.
    case undo
    /// A download added or removed entities, or entities were read individually.
    case download
    /// A batch was answered or became in doubt. Operations were confirmed or rejected, and the pending ones were
    /// reapplied.
    case upload
    /// The service assigned keys to entities of the result, so their links have changed. It accompanies the cause of
    /// the assignment.
    case keyAssignment
    /// A conflict was resolved.
    case conflict
    /// Operations were released or held back.
    case delivery
    /// New metadata of the service were installed.
    case metadata
    /// Defining queries were added or removed.
    case definingQuery
    /// The log has lost records, or records of a later version.
    case other
}

extension ChangeCause {
    /// Creates the cause for a record, or nil for a record that changes no entity.
    init?(_ body: Record.Body) {
        switch body {
        case .operation: self = .localEdit
        case .operationsUndone, .operationsRedone: self = .undo
        case .downloadStarted, .downloadPage, .downloadFinished, .entitiesRead, .entitiesMissing, .streamsStored:
            self = .download
        case .batchPrepared, .batchAccepted, .batchAnswered, .batchInterrupted, .operationsReleased, .operationsElided,
            .clientChangesKept:
            self = .upload
        case .conflictResolved: self = .conflict
        case .deliveryChanged: self = .delivery
        case .serviceInstalled, .operationsIncompatible, .operationsAmended: self = .metadata
        case .definingQueryAdded, .definingQueryRemoved: self = .definingQuery
        case .uploadPostponed, .linksLeftOpen, .entitiesQuarantined: return nil
        case .lost, .unknown: self = .other
        }
    }
}
