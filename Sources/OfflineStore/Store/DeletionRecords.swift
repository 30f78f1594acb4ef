package import Operations
package import SyncCore

/// The reads and records of a search for deletions in doubt, each in one transaction of the store.
package enum DeletionRecords {
    /// Returns the deletions in doubt before which other operations on their entities are pending.
    package static func doubtfulDeletions(
        in store: isolated LocalStore, besides busy: Set<SequenceNumber>
    ) throws(TidelogError) -> [DeletionInDoubt] {
        let model = try store.core.model
        return try store.core.read { try EntityResolver(storage: $0, model: model).doubtfulDeletions(besides: busy) }
    }

    /// Returns the deletions in doubt that precede a creation with the same key.
    package static func replacedDeletions(in store: isolated LocalStore) throws(TidelogError) -> [ReplacedDeletion] {
        let model = try store.core.model
        return try store.core.read { try EntityResolver(storage: $0, model: model).replacedDeletions() }
    }

    /// Logs that a deletion in doubt has ended, because the service does not have the entity, and with it the earlier
    /// operations on the entity.
    package static func confirm(
        _ deletion: PendingOperation, of entity: EntityID, superseding earlier: [PendingOperation],
        in store: isolated LocalStore
    ) async throws(TidelogError) {
        let model = try store.core.model
        let batch = deletion.status.batch ?? 0
        let members = earlier + [deletion]
        try store.core.transaction { () throws -> Void in
            let name = try store.core.state.name(of: entity, model)
            try DoubtFindings(core: store.core).add(
                "\(name), which operation \(deletion.sequence) deletes, does not exist any more.",
                for: members.filter { if case .inDoubt = $0.status { true } else { false } })
            let sent = try StreamRecords(core: store.core).sentCopies(of: members.map(\.sequence))
            let outcomes = members.map {
                BatchAnswered.Outcome(operation: $0.sequence, result: .confirmed(images: []))
            }
            try store.core.add(.batchAnswered(BatchAnswered(batch: batch, outcomes: outcomes)))
            try StreamRecords(core: store.core).remove(sent)
            _ = try store.core.commit()
        }
        try await store.core.acknowledge()
    }

    /// Logs that operations in doubt have ended, because their entity was deleted by a later operation whose outcome is
    /// known. Returns them.
    package static func endVoidDoubts(
        in store: isolated LocalStore, besides busy: Set<SequenceNumber>
    ) async throws(TidelogError) -> [SequenceNumber] {
        let model = try store.core.model
        let void = try store.core.read { try EntityResolver(storage: $0, model: model).voidDoubts(besides: busy) }
        guard !void.isEmpty else { return [] }
        try store.core.transaction { () throws -> Void in
            try DoubtFindings(core: store.core).add("The entity was deleted by a later operation.", for: void)
            for pending in void {
                let outcome = BatchAnswered.Outcome(operation: pending.sequence, result: .confirmed(images: []))
                try store.core.add(.batchAnswered(BatchAnswered(batch: pending.status.batch ?? 0, outcomes: [outcome])))
            }
            _ = try store.core.commit()
        }
        try await store.core.acknowledge()
        return void.map(\.sequence)
    }
}
