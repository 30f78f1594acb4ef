import Metrics
import Operations
import SyncEngine

/// Counts the engine's events in the metrics system of the app; see swift-metrics. A test compares the table in
/// `Docs/UploadProtocol.md` with this type.
struct SyncMetrics: Sendable {
    private let bytesSent = Counter(label: "tidelog_bytes_sent")
    private let bytesReceived = Counter(label: "tidelog_bytes_received")
    private let batches = Counter(label: "tidelog_batches")
    private let entities = Counter(label: "tidelog_entities_read")
    private let interruptions = Counter(label: "tidelog_interruptions")
    private let waits = Counter(label: "tidelog_waits")

    func count(_ event: SyncEvent) {
        switch event {
        case .uploadBegan, .downloadBegan, .received: break
        case .exchanged(let sent, let received, let status):
            Counter(label: "tidelog_requests", dimensions: [("status", status.map(String.init) ?? "none")]).increment()
            bytesSent.increment(by: sent)
            bytesReceived.increment(by: received)
        case .waiting: waits.increment()
        case .ended(let error):
            Counter(label: "tidelog_runs", dimensions: [("end", error == nil ? "done" : "failed")]).increment()
        case .recorded(_, let record): count(record.body)
        }
    }

    private func count(_ body: Record.Body) {
        switch body {
        case .operation: operations("made")
        case .operationsUndone(let undone): operations("undone", undone.count)
        case .operationsRedone(let redone): operations("redone", redone.count)
        case .operationsElided(let elided): operations("elided", elided.count)
        case .batchPrepared: batches.increment()
        case .batchInterrupted: interruptions.increment()
        case .batchAnswered(let answered):
            for outcome in answered.outcomes {
                switch outcome.result {
                case .confirmed: operations("confirmed")
                case .rejected: operations("rejected")
                case .deferred: operations("deferred")
                case .inDoubt: operations("inDoubt")
                case .notProcessed: break
                }
            }
        case .downloadPage(let page): entities.increment(by: page.entities.count + page.unchanged.count)
        case .entitiesRead(let images): entities.increment(by: images.count)
        default: break
        }
    }

    private func operations(_ state: String, _ count: Int = 1) {
        Counter(label: "tidelog_operations", dimensions: [("state", state)]).increment(by: count)
    }
}
