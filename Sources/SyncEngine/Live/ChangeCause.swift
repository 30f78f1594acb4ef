import Operations

/// Why an answer is another one than before.
public enum ChangeCause: String, Sendable, Hashable, CaseIterable {
    /// The app created, changed, linked or deleted something here.
    case localEdit
    /// The app took operations back, or made undone ones hold again.
    case undo
    /// A download brought or removed entities, or entities were read by themselves.
    case download
    /// The service answered a batch, or it was given up waiting for one: operations were confirmed or refused, and what is
    /// pending was applied anew.
    case upload
    /// The service gave keys to entities of the answer: their links are others now. Comes with the cause that brought them.
    case keyAssignment
    /// A conflict was decided.
    case conflict
    /// Operations were released or held back.
    case delivery
    /// The service's metadata came to hold.
    case metadata
    /// Defining queries were added or removed.
    case definingQuery
    /// Records of a later version or lost ones.
    case other
}

extension ChangeCause {
    /// Nil for a record that changes no entity.
    init?(_ body: Record.Body) {
        switch body {
        case .operation: self = .localEdit
        case .operationsUndone, .operationsRedone: self = .undo
        case .downloadStarted, .downloadPage, .downloadFinished, .entitiesRead, .entitiesMissing, .streamsStored:
            self = .download
        case .batchPrepared, .batchAccepted, .batchAnswered, .batchInterrupted, .operationsReleased, .operationsElided:
            self = .upload
        case .conflictResolved: self = .conflict
        case .deliveryChanged: self = .delivery
        case .serviceInstalled, .operationsUnfit, .operationsAmended: self = .metadata
        case .definingQueryAdded, .definingQueryRemoved: self = .definingQuery
        case .uploadPostponed, .linksLeftOpen, .entitiesQuarantined: return nil
        case .lost, .unknown: self = .other
        }
    }
}
