import Operations

/// A step of an upload or download. The raw values are stable names, and the keys of localised messages.
public enum SyncStep: String, Sendable, Hashable, CaseIterable {
    /// No work is running.
    case idle
    /// Operations in doubt are resolved, conflicts are searched, and the next batch is planned.
    case preparingUpload
    /// A batch is sent, and the service processes it.
    case sendingBatch
    /// The response to a batch arrives.
    case receivingResponse
    /// The outcomes of a batch are stored, and the pending operations are applied to them again.
    case storingOutcomes
    /// A download begins; no defining query is requested yet.
    case preparingDownload
    /// A defining query is requested.
    case requestingQuery
    /// A page of a defining query arrives.
    case receivingPage
    /// The entities of a page are stored, and the pending operations are applied to them again.
    case storingPage
    /// The entities that a query does not contain any more are removed.
    case finishingQuery
    /// The engine waits before a retry, because the service is busy or does not respond.
    case waitingForService

    /// The position among all steps, counted from 0 for ``idle``.
    public var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// Returns the step after an event.
    func next(after event: SyncEvent) -> SyncStep {
        switch event {
        case .uploadBegan: .preparingUpload
        case .downloadBegan: .preparingDownload
        case .waiting: .waitingForService
        case .ended: .idle
        case .received: isOfDownload ? .receivingPage : self
        case .exchanged: self == .sendingBatch ? .receivingResponse : self
        case .recorded(_, let record):
            switch record.body {
            case .batchPrepared: .sendingBatch
            case .batchAnswered, .batchInterrupted: .storingOutcomes
            case .downloadStarted: .requestingQuery
            case .downloadPage: isOfDownload ? .storingPage : self
            case .downloadFinished: .finishingQuery
            default: self
            }
        }
    }

    private var isOfDownload: Bool {
        switch self {
        case .preparingDownload, .requestingQuery, .receivingPage, .storingPage, .finishingQuery, .waitingForService:
            true
        case .idle, .preparingUpload, .sendingBatch, .receivingResponse, .storingOutcomes: false
        }
    }
}

/// A message about progress for the user.
public struct ProgressMessage: Sendable, Hashable {
    /// The key of the message in the app's table of localised strings, such as `SyncStep.sendingBatch`.
    public let key: String
    /// The values that the message contains, in order: the number of ended operations or queries, the total, and the
    /// name of the defining query, which may be empty.
    public let arguments: [String]
    /// The message in English.
    public let text: String
}

extension SyncProgress {
    /// The message about the current step.
    public var message: ProgressMessage {
        let arguments = ["\(done)", "\(total)", query ?? ""]
        let text =
            switch detail {
            case .idle: "No synchronization is running."
            case .preparingUpload: "Preparing the upload of \(total) changes"
            case .sendingBatch: "Sending changes: \(done) of \(total) done"
            case .receivingResponse: "Receiving the response: \(done) of \(total) changes done"
            case .storingOutcomes: "Storing the results: \(done) of \(total) changes done"
            case .preparingDownload: "Preparing the download"
            case .requestingQuery: "Requesting data: \(done) of \(total) queries done"
            case .receivingPage: "Receiving data: \(done) of \(total) queries done"
            case .storingPage: "Storing data: \(done) of \(total) queries done"
            case .finishingQuery: "Completing a query: \(done) of \(total) queries done"
            case .waitingForService: "Waiting for the service"
            }
        return ProgressMessage(key: "SyncStep.\(detail.rawValue)", arguments: arguments, text: text)
    }
}
