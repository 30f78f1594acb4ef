import Operations
import SyncCore

/// The results of searches for operations in doubt, in the log.
struct DoubtFindings {
    let core: StoreCore

    /// Adds the result of a search for operations in doubt. It precedes the record that ends the doubt, if there is
    /// one.
    func add(_ finding: String, for members: [PendingOperation]) throws {
        for (batch, members) in Dictionary(grouping: members, by: { $0.status.batch ?? 0 }).sorted(by: {
            $0.key < $1.key
        }) {
            let outcomes = members.map {
                BatchAnswered.Outcome(operation: $0.sequence, result: .inDoubt(DoubtReason.adding(finding, to: $0)))
            }
            try core.add(.batchAnswered(BatchAnswered(batch: batch, outcomes: outcomes)))
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

    /// Returns whether the service has rejected the change set, so that no request is running any more.
    package static func isOfRefusal(_ reason: String) -> Bool { reason.hasPrefix(BatchAnswered.refusedButThere) }
}

extension PendingOperation {
    package var doubtReason: String { if case .inDoubt(_, let reason) = status { reason } else { "" } }

    package var isCreate: Bool { if case .create = operation.action { true } else { false } }
}
