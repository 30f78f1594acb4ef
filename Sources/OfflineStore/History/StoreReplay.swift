import EDM
package import ODataWire
import OperationLog
package import Operations
import SyncCore
import Views

/// Continuing a historical store with the records of another history: all, some, or altered ones.
package actor StoreReplay {
    nonisolated let core: StoreCore
    package nonisolated var unownedExecutor: UnownedSerialExecutor { core.executor.asUnownedSerialExecutor() }

    init(core: StoreCore) { self.core = core }

    /// Appends records unchanged, in one commit.
    ///
    /// Operations are checked by the same rules as the app's calls; the operations of a change set are checked
    /// together. If one is refused, none is appended.
    /// - Throws: `refused` with the rule.
    @discardableResult
    package func replay(_ records: [Record]) throws(TidelogError) -> ClosedRange<SequenceNumber> {
        try core.transaction { () throws -> ClosedRange<SequenceNumber> in
            _ = core.drainDirtySet()
            var hasOperations = false
            for record in records {
                if case .operation(let operation) = record.body {
                    try OperationRules(storage: core.state, model: try core.model).check(operation)
                    hasOperations = true
                }
                try core.add(record)
            }
            try core.finishRebase()
            if hasOperations, let index = core.fold.index {
                try CardinalityRule(storage: core.state, index: index).check(core.drainDirtySet())
            }
            return try core.commit()
        }
    }

    /// Ensures that new entities receive IDs from this one on.
    package func reserveEntities(below first: EntityID) throws(TidelogError) {
        try core.transaction { () throws -> Void in
            var header = try core.state.header()
            guard header.nextEntity < first else { return }
            header.nextEntity = first
            try core.state.setHeader(header)
        }
    }

    /// The lowest unused entity ID.
    package var nextEntity: EntityID {
        get throws(TidelogError) { try core.read { try $0.header().nextEntity } }
    }

    /// Returns whether the operation is still pending.
    package func isPending(_ operation: SequenceNumber) throws(TidelogError) -> Bool {
        try core.read { try $0.pendingOperation(operation) != nil }
    }

    /// Returns whether the operation was undone.
    package func isUndone(_ operation: SequenceNumber) throws(TidelogError) -> Bool {
        try core.read { try $0.bookkeeping.undoneOperation(operation) != nil }
    }

    /// All pending operations, and all undone ones.
    package var pendingOrUndone: Set<SequenceNumber> {
        get throws(TidelogError) {
            try core.read { state in
                Set(try state.pendingOperations().map(\.sequence)).union(
                    try state.bookkeeping.undoneOperations().map(\.sequence))
            }
        }
    }

    /// Returns the outcomes of the operation and its change set for another response of the service. The same code
    /// derives them as after a real response.
    ///
    /// - Parameter response: The response to the operation. The other operations of its change set count as successful,
    ///   without further content.
    /// - Returns: An empty array if the operation is in no open batch.
    package func outcomes(
        of operation: SequenceNumber, in batch: BatchID, answered response: WireResponse
    ) throws(TidelogError) -> [BatchAnswered.Outcome] {
        let (model, options, root) = (try core.model, try core.serviceOptions, try core.service?.root ?? "")
        return try core.read { state throws in
            guard let open = try state.bookkeeping.openBatch(batch),
                let place = open.prepared.changeSets.firstIndex(where: { $0.contains { $0.operation == operation } })
            else { return [] }
            var sent = try LoggedBatchReader(storage: state, model: model).batch(open.prepared, [place])
            // The log contains the requests only if they are repeatable.
            if let rebuilt = try? RebuiltBatch(open.prepared, on: state, model, serviceRoot: root, options: options) {
                sent.complete(from: rebuilt.batch)
            }
            let members = sent.changeSets.first?.requests ?? []
            let outcome: ChangeSetOutcome
            if response.isSuccess {
                outcome = .members(
                    members.map { $0.operations.contains(operation) ? response : WireResponse(status: 204) })
            } else {
                outcome = .failed(response, culprit: members.first { $0.operation == operation }?.contentID)
            }
            var reconciler = try Reconciler(storage: state, model: model, serviceRoot: root, options: options)
            return try reconciler.outcomes(of: sent.answered([outcome]))
        }
    }

    /// Rebuilds the request bytes of a batch, in a historical store that ends before the batch's prepared record.
    package func rebuilt(_ prepared: BatchPrepared) throws(TidelogError) -> RebuiltBatch {
        let (model, options, root) = (try core.model, try core.serviceOptions, try core.service?.root ?? "")
        return try core.read { try RebuiltBatch(prepared, on: $0, model, serviceRoot: root, options: options) }
    }
}
