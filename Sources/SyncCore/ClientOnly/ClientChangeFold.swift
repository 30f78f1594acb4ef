import Operations

/// The end of client-only operations: their changes become part of the base state.
enum ClientChangeFold {
    /// Applies pending operations to the base state and removes them from the queue. Skips operations that ended.
    static func keep(_ sequences: [SequenceNumber], in fold: inout Fold) throws(StateError) {
        var touched: Set<EntityID> = []
        for sequence in sequences {
            guard let pending = try fold.storage.pendingOperation(sequence) else { continue }
            try fold.beginRebase()
            try fold.removePending(sequence)
            if let kept = try fold.visible(pending) {
                try fold.edit(.base) { e throws(StateError) in try e.apply(kept) }
            }
            try fold.assignKeys(pending.operation.createdEntities)
            touched.formUnion(pending.operation.touchedEntities)
        }
        try fold.discardMergeBases(of: touched.sorted())
        try fold.removeGone(among: touched)
    }
}
