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
    private let made = Self.operations("made")

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
        case .operation: made.increment()
        case .operationsUndone(let undone): Self.operations("undone").increment(by: undone.count)
        case .operationsRedone(let redone): Self.operations("redone").increment(by: redone.count)
        case .operationsElided(let elided): Self.operations("elided").increment(by: elided.count)
        case .batchPrepared: batches.increment()
        case .batchInterrupted: interruptions.increment()
        case .batchAnswered(let answered):
            for outcome in answered.outcomes {
                switch outcome.result {
                case .confirmed: Self.operations("confirmed").increment()
                case .rejected: Self.operations("rejected").increment()
                case .deferred: Self.operations("deferred").increment()
                case .inDoubt: Self.operations("inDoubt").increment()
                case .notProcessed: break
                }
            }
        case .downloadPage(let page): entities.increment(by: page.entities.count + page.unchanged.count)
        case .entitiesRead(let images): entities.increment(by: images.count)
        default: break
        }
    }

    private static func operations(_ state: String) -> Counter {
        Counter(label: "tidelog_operations", dimensions: [("state", state)])
    }
}
