import EDM
package import ODataWire
import OperationLog
package import Operations
package import SyncCore
import Views

/// The records of uploads. Each call is one transaction.
package actor StoreUploads {
    nonisolated let core: StoreCore
    package nonisolated var unownedExecutor: UnownedSerialExecutor { core.executor.asUnownedSerialExecutor() }

    init(core: StoreCore) { self.core = core }

    package func beginUpload() { core.uploadState.running += 1 }

    package func endUpload() { core.uploadState.running -= 1 }

    /// Returns the plan of the next batch without logging anything; see ``UploadPlans``.
    package func plan(
        retrying: Set<SequenceNumber> = [], unreadable: Set<EntityID> = [], service: ServiceOptions? = nil,
        upload: UploadOptions = UploadOptions(), reach: PlanScope = .queue
    ) throws(TidelogError) -> UploadPlan {
        try UploadPlans(core: core).plan(
            retrying: retrying, unreadable: unreadable, service: service, upload: upload, reach: reach)
    }

    private var streams: StreamRecords { StreamRecords(core: core) }

    /// The count of changes that make earlier plans outdated.
    package var planEpoch: Int { core.planEpoch }

    /// The last record that the state contains.
    package var lastRecord: SequenceNumber {
        get throws(TidelogError) { try core.read { try $0.header().applied } }
    }

    /// Returns the given operations whose entities no pending operation after the record refers to.
    package func operations(
        _ operations: Set<SequenceNumber>, untouchedSince record: SequenceNumber
    ) throws(TidelogError) -> Set<SequenceNumber> {
        try core.read { state in
            try operations.filter { sequence in
                guard let pending = try state.pendingOperation(sequence) else { return true }
                return try pending.operation.touchedEntities.allSatisfy { id in
                    try state.pendingOperations(naming: id).allSatisfy { $0 <= record }
                }
            }
        }
    }

    /// Logs a batch before it is sent. From here on, a crash leaves its operations in doubt instead of pending. The
    /// record is durable whatever the options are, because a sent batch that was lost would be sent again.
    ///
    /// - Parameters:
    ///   - prepared: The batch, with the number ``LocalStore/nextBatch``.
    ///   - planEpoch: The store's count before planning.
    /// - Returns: False if the plan is outdated and has to be made again. Then nothing is logged.
    package func prepare(_ prepared: BatchPrepared, since planEpoch: Int) async throws(TidelogError) -> Bool {
        let isLogged = try core.transaction { () throws -> Bool in
            guard planEpoch == core.planEpoch, try core.state.header().nextBatch == prepared.batch else { return false }
            try core.uploadState.remember(prepared.operations, in: core.state)
            try core.add(.batchPrepared(prepared))
            _ = try core.commit()
            return true
        }
        if isLogged { try await core.makeDurable() }
        return isLogged
    }

    /// Logs that operations have ended because they cancel each other out.
    ///
    /// - Parameter planEpoch: The store's count before planning.
    /// - Returns: The operations, or none if the plan is outdated.
    package func elide(_ operations: [SequenceNumber], since planEpoch: Int) async throws(TidelogError)
        -> [SequenceNumber]
    {
        let elided = try core.transaction { () throws -> [SequenceNumber] in
            guard planEpoch == core.planEpoch else { return [] }
            try core.add(.operationsElided(operations.sorted()))
            _ = try core.commit()
            return operations.sorted()
        }
        try await core.acknowledge()
        return elided
    }

    /// Logs the outcomes of a batch.
    package func answer(
        _ answer: UploadAnswer, budget: RetryBudget = RetryBudget()
    ) async throws(TidelogError) -> [BatchAnswered.Outcome] {
        let model = try core.model
        let root = try core.service?.root ?? ""
        let results = try core.transaction { () throws -> [BatchAnswered.Outcome] in
            var reconciler = try Reconciler(
                storage: core.state, model: model, serviceRoot: root, options: answer.profile.options,
                retried: answer.retried, doubtful: core.uploadState.doubtful, budget: budget)
            let results = try reconciler.outcomes(of: answer.batch).map {
                $0.amended(by: answer.amended[$0.operation])
            }
            let kept = core.uploadState.keepingDoubts(results)
            let sent = try streams.sentCopies(of: kept.filter(\.isConfirmed).map(\.operation))
            let twins = try DownloadedDuplicates(confirming: kept, state: core.state, model: model)
            let answered = BatchAnswered(batch: answer.batch.number, outcomes: kept)
            try twins.add([.batchAnswered(answered)], isRead: false, to: core)
            // In the same commit, because the next change of the stream has to send its ETag.
            if kept.contains(where: \.isConfirmed), let stream = answer.batch.streamImage {
                try core.add(.streamsStored([stream]))
            }
            try streams.add(reconciler.streams, sent: answer.batch.createdMediaEntities)
            try streams.remove(sent)
            try IncompatibleOperations(core: core).add(among: kept.filter { !$0.isConfirmed }.map(\.operation))
            _ = try core.commit()
            // Operations that the service did not process can be sent again in the same upload, in doubt or not.
            return zip(results, kept).map { $0.result == .notProcessed ? $0 : $1 }
        }
        try await core.acknowledge()
        return results
    }

    /// Logs that the batch was not sent or not processed. Its operations are pending again, or in doubt as before.
    package func withdraw(_ batch: UploadedBatch) async throws(TidelogError) {
        let outcomes = batch.operations.map { BatchAnswered.Outcome(operation: $0, result: .notProcessed) }
        try core.transaction { () throws -> Void in
            try core.add(
                .batchAnswered(BatchAnswered(batch: batch.number, outcomes: core.uploadState.keepingDoubts(outcomes))))
            try IncompatibleOperations(core: core).add(among: outcomes.map(\.operation))
            _ = try core.commit()
        }
        try await core.acknowledge()
    }

}
