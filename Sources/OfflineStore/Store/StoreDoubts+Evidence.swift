package import EDM
package import ODataWire
import OperationLog
package import Operations
package import SyncCore
import Views

/// The evidence about creates in doubt, and the results of searches for them.
extension StoreDoubts {
    /// Returns the result of `body` for the evidence in the current state and the log.
    func evidence<T>(_ body: (StoreEvidence) throws -> T) throws(TidelogError) -> T {
        let model = try core.model
        return try core.read { state in
            try body(StoreEvidence(state: state, model: model) { () throws(LogError) in try self.core.reader() })
        }
    }

    /// See ``StoreEvidence/priorKnowledge(of:in:container:besides:)``.
    package func priorKnowledge(
        of payloads: [EntityPayload], in set: EntitySet, container: EntityID?, besides creation: PendingOperation
    ) throws(TidelogError) -> [StoreEvidence.PriorKnowledge] {
        try evidence { try $0.priorKnowledge(of: payloads, in: set, container: container, besides: creation) }
    }

    package func sendingTime(of creation: PendingOperation) throws(TidelogError) -> Timestamp? {
        try evidence { $0.sendingTime(of: creation) }
    }

    package func content(
        of creation: Creation, besides doubtful: Set<EntityID>
    ) throws(TidelogError) -> SentContent? {
        try evidence { try $0.content(of: creation, besides: doubtful) }
    }

    package func hasKeyless(like content: SentContent, in set: EntitySet) throws(TidelogError) -> Bool {
        try evidence { try $0.hasKeyless(like: content, in: set) }
    }

    package func knowsWhole(_ set: EntitySet) throws(TidelogError) -> Bool { try evidence { try $0.knowsWhole(set) } }

    /// Returns the time for which the lost request of an operation in doubt may still be running.
    ///
    /// - Parameter sent: The time of transmission according to the log, or nil for the time at which the operation
    ///   became in doubt.
    package func lostRequestWait(
        of pending: PendingOperation, sent: Timestamp?, seconds: Int
    ) -> RequestLifetime {
        let batch = pending.status.batch ?? 0
        let now = core.environment.now()
        let wait = RequestLifetime(
            sent: sent ?? pending.since, firstLook: core.uploadState.firstLooks[batch], now: now, seconds: seconds)
        // The clock is before the log's time, so the wait is measured from this search.
        if (sent ?? pending.since) > now { core.uploadState.firstLooks[batch] = wait.start }
        return wait
    }

    /// Returns the time from which the next upload can resolve each operation in doubt whose lost request may still be
    /// running.
    package func nextLooks() throws(TidelogError) -> [SequenceNumber: Timestamp] {
        let options = try core.serviceOptions
        let now = core.environment.now()
        var looks: [SequenceNumber: Timestamp] = [:]
        for members in try inDoubtSets() {
            guard let creation = members.first(where: { $0.isCreate }), case .inDoubt(_, let reason) = creation.status,
                !DoubtReason.isOfRefusal(reason), !DoubtReason.isLookedFor(reason),
                case .create(let created, _) = creation.operation.action, options.doubts(of: created.set) == .evidence
            else { continue }
            let sent = try sendingTime(of: creation)
            let wait = RequestLifetime(
                sent: sent ?? creation.since, firstLook: core.uploadState.firstLooks[creation.status.batch ?? 0],
                now: now, seconds: options.lostRequestSeconds)
            if !wait.isOver(at: now) { for member in members { looks[member.sequence] = wait.end } }
        }
        return looks
    }

    /// Logs the result of a search for operations that stay in doubt, unless it is already logged.
    package func logSearchResult(_ finding: String, of members: [PendingOperation]) async throws(TidelogError) {
        guard members.contains(where: { DoubtReason.adding(finding, to: $0) != $0.doubtReason }) else { return }
        try core.transaction { () throws -> Void in
            try DoubtFindings(core: core).add(finding, for: members)
            _ = try core.commit()
        }
        try await core.acknowledge()
    }
}
