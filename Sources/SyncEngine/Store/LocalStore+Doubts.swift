import ODataWire
import OperationLog
public import Operations
import SyncCore
import Views

/// The user's decision about an operation in doubt.
public enum DoubtSettlement: String, Sendable, Hashable, CaseIterable {
    /// The operation took effect.
    case tookEffect
    /// The operation did not take effect and is sent again.
    case resend
}

/// The part of a batch without a response.
struct OutstandingResponse {
    /// The positions of the change sets.
    var places: [Int]
    var operations: [SequenceNumber]
    /// Whether the batch was sent before, so that there may have been an earlier response.
    var isRepeated: Bool
    /// The time of transmission.
    var since: Timestamp
}

/// Batches with unknown outcomes.
extension LocalStore {
    /// The store's permanent random identifier, which services receive.
    package nonisolated var identifier: String { log.storeIdentifier.description }

    func openBatches() throws(TidelogError) -> [OpenBatch] { try read { try $0.bookkeeping.openBatches() } }

    func openBatch(_ batch: BatchID) throws(TidelogError) -> OpenBatch? {
        try read { try $0.bookkeeping.openBatch(batch) }
    }

    /// Returns the change sets of a batch at these positions, as they were sent.
    func uploaded(_ prepared: BatchPrepared, _ places: [Int]) throws(TidelogError) -> UploadedBatch {
        let model = try model
        return try read { try LoggedBatchReader(storage: $0, model: model).batch(prepared, places) }
    }

    /// Returns the positions of the change sets of a batch that are in doubt.
    func inDoubtPlaces(of open: OpenBatch) throws(TidelogError) -> [Int] {
        try read { state in
            try open.prepared.changeSets.indices.filter { place in
                try open.prepared.changeSets[place].contains {
                    if case .inDoubt(open.batch, _)? = try state.pendingOperation($0.operation)?.status { return true }
                    return false
                }
            }
        }
    }

    /// Returns the outstanding part of a batch, or nil if there is none.
    func outstanding(of open: OpenBatch) throws(TidelogError) -> OutstandingResponse? {
        try read { state in
            var found = OutstandingResponse(places: [], operations: [], isRepeated: false, since: .max)
            for place in open.prepared.changeSets.indices {
                let members = try open.prepared.changeSets[place].compactMap {
                    try state.pendingOperation($0.operation)
                }.filter { $0.status.batch == open.batch }
                guard !members.isEmpty else { continue }
                found.places.append(place)
                found.operations += Set(members.map(\.sequence)).sorted()
                found.since = members.reduce(found.since) { min($0, $1.since) }
                if members.contains(where: { if case .inDoubt = $0.status { true } else { false } }) {
                    found.isRepeated = true
                }
            }
            return found.places.isEmpty ? nil : found
        }
    }

    /// Returns the operations that the service processes asynchronously, by batch.
    public func awaitedOperations() throws(TidelogError) -> [BatchID: [SequenceNumber]] {
        var awaited: [BatchID: [SequenceNumber]] = [:]
        for open in try openBatches() where open.monitor != nil {
            awaited[open.batch] = try outstanding(of: open)?.operations
        }
        return awaited
    }

    /// Returns the operations in doubt, grouped by those that took effect all or none: they were in one change set, and
    /// the service rolls back refused ones.
    func inDoubtSets() throws(TidelogError) -> [[PendingOperation]] {
        let isAtomic = try serviceOptions.changeSetRollback != .absent
        return try read { state in
            var sets: [[PendingOperation]] = []
            var places: [String: Int] = [:]
            var batches: [BatchID: OpenBatch?] = [:]
            for pending in try state.pendingOperations(.inDoubt) {
                guard case .inDoubt(let batch, let reason) = pending.status else { continue }
                guard isAtomic, !DoubtReason.isOfRefusal(reason) else {
                    sets.append([pending])
                    continue
                }
                if batches[batch] == nil { batches[batch] = .some(try state.bookkeeping.openBatch(batch)) }
                // Batch 0 stands for operations whose batch is unknown because its record is lost.
                let place = batches[batch]??.prepared.changeSets.firstIndex {
                    $0.contains { $0.operation == pending.sequence }
                }
                let key = place.map { "\(batch)/\($0)" } ?? "\(pending.sequence)"
                if let known = places[key] {
                    sets[known].append(pending)
                } else {
                    places[key] = sets.count
                    sets.append([pending])
                }
            }
            return sets
        }
    }

    /// Logs that operations in doubt did not take effect, according to a search.
    func release(_ members: [PendingOperation], because finding: String) async throws(TidelogError) {
        let operations = members.map(\.sequence)
        try transaction { () throws -> Void in
            try self.addEvidence(finding, for: members)
            try self.add(.operationsReleased(operations))
            try self.addUnfit(among: operations)
            _ = try self.commit()
        }
        try await acknowledge()
    }

    /// Logs that operations in doubt did not take effect.
    func release(_ operations: [SequenceNumber]) async throws(TidelogError) {
        try transaction { () throws -> Void in
            try self.add(.operationsReleased(operations))
            try self.addUnfit(among: operations)
            _ = try self.commit()
        }
        try await acknowledge()
    }

    /// Stores which of the operations are in doubt. It has to be called before logging that they are sent again.
    func rememberInDoubt(_ operations: [SequenceNumber]) throws {
        for operation in operations {
            if case .inDoubt? = try state.pendingOperation(operation)?.status {
                doubtful.insert(operation)
            } else {
                doubtful.remove(operation)
            }
        }
    }

    /// Keeps operations in doubt that were not processed this time, because an earlier transmission may have been.
    func keepingDoubts(_ outcomes: [BatchAnswered.Outcome]) -> [BatchAnswered.Outcome] {
        outcomes.map { outcome in
            guard doubtful.contains(outcome.operation) else { return outcome }
            switch outcome.result {
            case .confirmed, .rejected, .inDoubt: return outcome
            case .notProcessed, .deferred:
                let reason = "The response to the first request was lost, and the retry was not executed."
                return BatchAnswered.Outcome(operation: outcome.operation, result: .inDoubt(reason))
            }
        }
    }

    func beginUpload() { uploads += 1 }

    func endUpload() { uploads -= 1 }
}
