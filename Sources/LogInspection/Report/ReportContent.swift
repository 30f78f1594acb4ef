import OfflineStore
import OperationLog
import Operations
import SyncCore

/// The content of a report before truncation.
struct ReportContent {
    /// A record as a line of the lists.
    struct Row {
        let sequence: SequenceNumber
        let time: Timestamp?
        let kind: String
        /// The outcome; empty for records that are no operations.
        let outcome: String
        let action: String
        let text: String
        let entities: [EntityID]
    }

    struct Request {
        let method: String
        let url: String
        let headers: String
        let body: String
    }

    struct Outcome {
        let operation: SequenceNumber
        let result: String
        let refusal: Refusal?
        let reason: String?
    }

    struct Batch {
        let id: BatchID
        /// The number of the prepared record; nil if it is not in the report.
        var prepared: SequenceNumber?
        var ended: SequenceNumber?
        var isInterrupted = false
        var operations: [SequenceNumber] = []
        /// The outcomes other than confirmations.
        var outcomes: [Outcome] = []
        var requests: [Request] = []
        var summary = ""
        var reason: String?
        /// The source of the requests.
        var note = "The log does not contain the bytes of this batch, and it is too old to be rebuilt in the report."

        /// The most serious outcome.
        var state: String {
            if isInterrupted { return "inDoubt" }
            guard ended != nil else { return "inFlight" }
            for result in ["rejected", "inDoubt", "deferred"] where outcomes.contains(where: { $0.result == result }) {
                return result
            }
            return outcomes.isEmpty ? "confirmed" : "pending"
        }
    }

    var title = "Tidelog report"
    var subtitle = ""
    var facts: [(label: String, value: String)] = []
    var notices: [String] = []
    var isDamaged = false
    var rows: [Row] = []
    var entities: [(id: EntityID, set: String, name: String)] = []
    var batches: [Batch] = []
    var conflicts: [Conflict] = []
    var errors: [ErrorArchiveEntry] = []
    var statistics: LogStatistics?
}
