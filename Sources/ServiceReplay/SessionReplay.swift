import EDM
public import LogInspection
public import OfflineStore
import OperationLog
public import Operations
import SyncCore
package import SyncEngine
public import Transport

/// The outcome of an operation when a session was run again.
public struct ReplayedOperation: Sendable, Hashable {
    /// The outcome of an operation, as far as it can be compared between two services.
    public enum Outcome: Sendable, Hashable {
        /// The service confirmed the operation.
        case confirmed
        /// The service rejected the operation, with this status and error code.
        case rejected(status: Int, code: String)
        /// The operation is pending, in doubt or undone.
        case open(String)
        /// The operation could not be made for the other service: a sentence.
        case impossible(String)
    }

    /// The sequence number in the replayed log.
    public let sequence: SequenceNumber
    /// A description of the operation.
    public let summary: String
    /// The outcome in the replayed log.
    public let then: Outcome
    /// The outcome of the new run.
    public let now: Outcome

    /// A Boolean value that indicates whether both outcomes are equal.
    public var isSame: Bool { then == now }
}

/// A session that is run again against a live service: the app's operations in their order, with uploads and downloads
/// at the same positions. The service assigns its own keys and responses; entities are matched by their keys.
///
/// It runs in an in-memory store and changes the service, which should be a test service.
public struct SessionReplay {
    private let source: InspectedStore
    private let session: ServiceSession
    private let options: UploadOptions

    /// Creates a session replay.
    ///
    /// - Parameter session: The session with the service. Its root replaces the one in the log.
    package init(_ source: InspectedStore, session: ServiceSession, options: UploadOptions = UploadOptions()) {
        self.source = source
        self.session = session
        self.options = options
    }

    /// Creates a session replay.
    ///
    /// - Parameter root: The root of a service with the same metadata as the log.
    public init(_ source: InspectedStore, serviceRoot root: String, credentials: Credentials = .none) {
        self.init(
            source, session: ServiceSession(root: root, transport: defaultTransport(), credentials: credentials))
    }

    /// Runs the session. Returns the outcome of each operation of the log, in order.
    ///
    /// - Throws: `damaged` if the log is damaged, the other errors of reading it, and errors of the service that end the
    ///   session. The first request reads its metadata, so an address that is no service is an error for every log.
    public func run() async throws(TidelogError) -> [ReplayedOperation] {
        let replay = try Replay(source)
        guard case .beginning = replay.origin else {
            throw TidelogError(
                .unsupported, "A session can be repeated only from its beginning, which a compaction removed.",
                place: source.files.log, recovery: "Use a copy of the store from before the compaction.")
        }
        _ = try await MetadataReading.read(session)
        var stage = try await SessionReplayStore(source, session, options)
        var summaries: [(SequenceNumber, String)] = []
        while let step = try replay.next() {
            if step.entry.operation != nil { summaries.append((step.entry.sequence, step.entry.summary)) }
            try await stage.perform(step.entry, replay.state)
        }
        return try await outcomes(summaries, stage)
    }

    private func outcomes(
        _ summaries: [(SequenceNumber, String)], _ stage: SessionReplayStore
    ) async throws(TidelogError) -> [ReplayedOperation] {
        let outcomes: OperationOutcomes
        let outcomesNow: OperationOutcomes
        do throws(LogError) {
            outcomes = try source.history.outcomes()
            outcomesNow = try stage.history.outcomes()
        } catch {
            throw TidelogError(error)
        }
        return summaries.map { sequence, summary in
            let now: ReplayedOperation.Outcome =
                if let reason = stage.impossible[sequence] {
                    .impossible(reason)
                } else {
                    stage.sequences[sequence].flatMap { outcomesNow[$0] }.map(ReplayedOperation.Outcome.init)
                        ?? .impossible("It was not performed.")
                }
            return ReplayedOperation(
                sequence: sequence, summary: summary,
                then: outcomes[sequence].map(ReplayedOperation.Outcome.init) ?? .open("unknown"),
                now: now)
        }
    }
}

extension ReplayedOperation.Outcome {
    init(_ outcome: OperationOutcome) {
        switch outcome {
        case .confirmed: self = .confirmed
        case .rejected(_, let refusal): self = .rejected(status: refusal.status, code: refusal.code)
        // Whether an update was sent on its own or coalesced depends on the upload.
        case .elided: self = .open("elided")
        default: self = .open(outcome.name)
        }
    }
}
