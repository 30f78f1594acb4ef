public import Operations

/// How far an upload or download is.
public struct SyncProgress: Sendable, Hashable {
    public enum Step: String, Sendable {
        /// Nothing goes on.
        case idle
        /// Doubts are settled by reading, and the next batch is planned.
        case preparing
        /// A batch is with the service.
        case sending
        /// The engine waits before it tries again; see ``waitsUntil``.
        case waiting
        /// Defining queries run.
        case downloading
    }

    public var step = Step.idle
    /// Of an upload, the operations that have ended, one way or the other; of a download, the queries.
    public var done = 0
    /// As far as it is known: operations may come while others are sent.
    public var total = 0
    /// How many pages a download has read to their end.
    public var pages = 0
    /// How many entities a download has brought, those that are as they were included.
    public var entities = 0
    /// Bodies of requests and of answers.
    public var bytesSent = 0
    public var bytesReceived = 0
    /// The defining query that brought the last page.
    public var query: String?
    /// Milliseconds since 1970.
    public var waitsUntil: Timestamp?
    /// Of them, those of bodies that have not ended.
    private var receivedInPieces = 0
    /// What it goes on with behind the waiting.
    private var resumed = Step.preparing

    public init() {}

    /// What it is after the event.
    public mutating func apply(_ event: SyncEvent) {
        switch event {
        case .uploadBegan(let pending):
            self = SyncProgress()
            step = .preparing
            total = pending
        case .downloadBegan:
            self = SyncProgress()
            step = .downloading
        case .recorded(_, let record): apply(record.body)
        case .received(let count):
            bytesReceived += count
            receivedInPieces += count
            if step == .waiting { leaveWaiting() }
        case .exchanged(let sent, let received, _):
            bytesSent += sent
            // What came in pieces was counted as it came.
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
