import EDM
import ODataWire
import OperationLog
public import Operations
import SyncCore
import Views

/// The store's evidence about creates in doubt, and the results of searches for them.
extension LocalStore {
    /// Returns the result of `body` for the evidence in the current state and the log.
    func evidence<T>(_ body: (StoreEvidence) throws -> T) throws(TidelogError) -> T {
        let model = try model
        return try read { state in
            try body(StoreEvidence(state: state, model: model) { () throws(LogError) in try self.reader() })
        }
    }

    /// See ``StoreEvidence/priorKnowledge(of:in:container:besides:)``.
    func priorKnowledge(
        of payloads: [EntityPayload], in set: EntitySet, container: EntityID?, besides creation: PendingOperation
    ) throws(TidelogError) -> [StoreEvidence.PriorKnowledge] {
        try evidence { try $0.priorKnowledge(of: payloads, in: set, container: container, besides: creation) }
    }

    func sendingTime(of creation: PendingOperation) throws(TidelogError) -> Timestamp? {
        try evidence { $0.sendingTime(of: creation) }
    }

    func content(
        of creation: Creation, besides doubtful: Set<EntityID>
    ) throws(TidelogError) -> SentContent? {
        try evidence { try $0.content(of: creation, besides: doubtful) }
    }

    func hasKeyless(like content: SentContent, in set: EntitySet) throws(TidelogError) -> Bool {
        try evidence { try $0.hasKeyless(like: content, in: set) }
    }

    func knowsWhole(_ set: EntitySet) throws(TidelogError) -> Bool { try evidence { try $0.knowsWhole(set) } }

    /// Returns the time for which the lost request of an operation in doubt may still be running.
    ///
    /// - Parameter sent: The time of transmission according to the log, or nil for the time at which the operation
    ///   became in doubt.
    func lostRequestWait(
        of pending: PendingOperation, sent: Timestamp?, seconds: Int
    ) -> LostRequestWait {
        let batch = pending.status.batch ?? 0
        let now = environment.now()
        let wait = LostRequestWait(
            sent: sent ?? pending.since, firstLook: firstLooks[batch], now: now, seconds: seconds)
        // The clock is before the log's time, so the wait is measured from this search.
        if (sent ?? pending.since) > now { firstLooks[batch] = wait.start }
        return wait
    }

    /// Returns the time from which the next upload can resolve each operation in doubt whose lost request may still be
    /// running.
    public func nextLooks() throws(TidelogError) -> [SequenceNumber: Timestamp] {
        let options = try serviceOptions
        let now = environment.now()
        var looks: [SequenceNumber: Timestamp] = [:]
        for members in try inDoubtSets() {
            guard let creation = members.first(where: { $0.isCreate }), case .inDoubt(_, let reason) = creation.status,
                !DoubtReason.isOfRefusal(reason), !DoubtReason.isLookedFor(reason),
                case .create(let created, _) = creation.operation.action, options.doubts(of: created.set) == .evidence
            else { continue }
            let sent = try sendingTime(of: creation)
            let wait = LostRequestWait(
                sent: sent ?? creation.since, firstLook: firstLooks[creation.status.batch ?? 0], now: now,
                seconds: options.lostRequestSeconds)
            if !wait.isOver(at: now) { for member in members { looks[member.sequence] = wait.end } }
        }
        return looks
    }

    /// Logs the result of a search for operations that stay in doubt, unless it is already logged.
    func logSearchResult(_ finding: String, of members: [PendingOperation]) async throws(TidelogError) {
        guard members.contains(where: { DoubtReason.adding(finding, to: $0) != $0.doubtReason }) else { return }
        try transaction { () throws -> Void in
            try self.addEvidence(finding, for: members)
            _ = try self.commit()
        }
        try await acknowledge()
    }

    /// Adds the result of a search for operations in doubt. It precedes the record that ends the doubt, if there is
    /// one.
    func addEvidence(_ finding: String, for members: [PendingOperation]) throws {
        for (batch, members) in Dictionary(grouping: members, by: { $0.status.batch ?? 0 }).sorted(by: {
            $0.key < $1.key
        }) {
            let outcomes = members.map {
                BatchAnswered.Outcome(operation: $0.sequence, result: .inDoubt(DoubtReason.adding(finding, to: $0)))
            }
            try add(.batchAnswered(BatchAnswered(batch: batch, outcomes: outcomes)))
        }
    }
}

/// The reason of a doubt, followed by the result of a search. Logs contain the marker, so it must not change.
package enum DoubtReason {
    private static let marker = " Looked for at the service: "

    /// Returns the reason with a search result, which replaces an earlier one.
    static func adding(_ finding: String, to pending: PendingOperation) -> String {
        let reason = pending.doubtReason
        return (reason.firstRange(of: marker).map { String(reason[..<$0.lowerBound]) } ?? reason) + marker + finding
    }

    static func isLookedFor(_ reason: String) -> Bool { reason.contains(marker) }

    /// Returns the search result, or nil if the reason has none.
    package static func finding(in reason: String) -> String? {
        reason.firstRange(of: marker).map { String(reason[$0.upperBound...]) }
    }

    /// Returns whether the service has refused the change set, so that no request is running any more.
    static func isOfRefusal(_ reason: String) -> Bool { reason.hasPrefix(BatchAnswered.refusedButThere) }
}

extension PendingOperation {
    var doubtReason: String { if case .inDoubt(_, let reason) = status { reason } else { "" } }

    var isCreate: Bool { if case .create = operation.action { true } else { false } }
}
