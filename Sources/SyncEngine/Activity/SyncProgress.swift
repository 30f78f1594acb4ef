public import Operations

/// The progress of an upload or download.
public struct SyncProgress: Sendable, Hashable {
    /// A step of an upload or download.
    public enum Step: String, Sendable {
        /// No work is running.
        case idle
        /// The engine resolves operations in doubt and plans the next batch.
        case preparing
        /// A batch is in flight.
        case sending
        /// The engine waits before a retry; see ``waitsUntil``.
        case waiting
        /// Defining queries are being downloaded.
        case downloading
    }

    /// The current step.
    public var step = Step.idle
    /// The current step in more detail.
    public private(set) var detail = SyncStep.idle
    /// The number of operations of an upload that have ended, with any outcome, or of finished queries of a download.
    public var done = 0
    /// The total as known so far. Operations may be added during an upload.
    public var total = 0
    /// The number of completely read pages of a download.
    public var pages = 0
    /// The number of downloaded entities, including unchanged ones.
    public var entities = 0
    /// The size of all request bodies.
    public var bytesSent = 0
    /// The size of all received response bodies.
    public var bytesReceived = 0
    /// The defining query of the last page.
    public var query: String?
    /// The end of the wait, in milliseconds since 1970.
    public var waitsUntil: Timestamp?
    /// The part of ``bytesReceived`` that belongs to bodies that have not ended.
    private var receivedInPieces = 0
    /// The step that follows the wait.
    private var resumed = Step.preparing

    /// Creates the progress of an idle engine.
    public init() {}

    /// Updates the progress with an event.
    package mutating func apply(_ event: SyncEvent) {
        detail = detail.next(after: event)
        switch event {
        case .uploadBegan(let pending):
            self = SyncProgress()
            step = .preparing
            detail = .preparingUpload
            total = pending
        case .downloadBegan:
            self = SyncProgress()
            step = .downloading
            detail = .preparingDownload
        case .recorded(_, let record): apply(record.body)
        case .received(let count):
            bytesReceived += count
            receivedInPieces += count
            if step == .waiting { leaveWaiting() }
        case .exchanged(let sent, let received, _):
            bytesSent += sent
            // Streamed bytes were already counted on arrival.
            let isCounted = min(received, receivedInPieces)
            receivedInPieces -= isCounted
            bytesReceived += received - isCounted
            if step == .waiting { leaveWaiting() }
        case .waiting(let time, _, _):
            if step != .waiting { resumed = step == .downloading ? .downloading : .preparing }
            step = .waiting
            waitsUntil = time
        case .ended:
            step = .idle
            waitsUntil = nil
        }
    }

    private mutating func apply(_ body: Record.Body) {
        switch body {
        case .batchPrepared: step = .sending
        case .batchAnswered(let answered):
            done += answered.outcomes.count {
                switch $0.result {
                case .confirmed, .rejected: true
                case .deferred, .notProcessed, .inDoubt: false
                }
            }
            total = max(total, done)
            if step == .sending { step = .preparing }
        case .batchInterrupted: if step == .sending { step = .preparing }
        case .downloadStarted(let starts): if starts.contains(where: { $0.mode != .restarted }) { total = starts.count }
        case .downloadPage(let page):
            entities += page.entities.count + page.unchanged.count
            if page.next != nil { pages += 1 }
            query = page.query
        case .downloadFinished:
            pages += 1
            done += 1
        default: break
        }
    }

    private mutating func leaveWaiting() {
        step = resumed
        waitsUntil = nil
    }
}
