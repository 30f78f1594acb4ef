import EDM
import ODataWire
import OperationLog
public import Operations
import SyncCore
public import Transport
public import SyncEngine

/// What became of an operation when a session was run again.
public struct ReplayedOperation: Sendable, Hashable {
    /// How an operation ended, or stands, as far as two services can be compared.
    public enum Outcome: Sendable, Hashable {
        case confirmed
        case rejected(status: Int, code: String)
        /// Neither: it waits, is in doubt, or was taken back.
        case open(String)
        /// It could not be said to the other service; a sentence.
        case impossible(String)
    }

    /// In the log that is replayed.
    public let sequence: SequenceNumber
    public let summary: String
    public let then: Outcome
    public let now: Outcome

    public var isSame: Bool { then == now }
}

/// A session as a log tells it, run again against a service that is there now: the app's operations in their order, uploads and
/// downloads where they were. The service gives its own keys and answers; entities are found again by what they are.
///
/// Everything happens in a store in memory, and on the service: it should be one for trying things.
public struct SessionReplay {
    private let source: InspectedStore
    private let session: ServiceSession
    private let options: UploadOptions

    /// - Parameter session: of the service; its root takes the place of the one in the log.
    public init(_ source: InspectedStore, session: ServiceSession, options: UploadOptions = UploadOptions()) {
        self.source = source
        self.session = session
        self.options = options
    }

    /// - Parameter root: of the service, whose metadata have to be those of the log's.
    public init(_ source: InspectedStore, serviceRoot root: String, credentials: Credentials = .none) {
        self.init(
            source, session: ServiceSession(root: root, transport: defaultTransport(), credentials: credentials))
    }

    /// One for each operation of the log, in order.
    ///
    /// - Throws: what a ``Replay`` throws; what the service refuses as a whole.
    @inline(never) @_optimize(none)
    public func run() async throws(TidelogError) -> [ReplayedOperation] {
        let replay = try Replay(source)
        guard case .beginning = replay.origin else {
            throw TidelogError(
                .unsupported, "A session can be run again from its beginning only, and a compaction has removed that.",
                place: source.files.log, recovery: "Use a copy of the store from before the compaction.")
        }
        var stage = try await SessionStage(source, session, options)
        var summaries: [(SequenceNumber, String)] = []
        while let step = try replay.next() {
            if step.entry.operation != nil { summaries.append((step.entry.sequence, step.entry.summary)) }
            try await stage.perform(step.entry, replay.state)
        }
        return try await outcomes(summaries, stage)
    }

    @inline(never) @_optimize(none)
    private func outcomes(
        _ summaries: [(SequenceNumber, String)], _ stage: SessionStage
    ) async throws(TidelogError) -> [ReplayedOperation] {
        let fates: OperationFates
        let fatesNow: OperationFates
        do throws(LogError) {
            fates = try source.history.fates()
            fatesNow = try stage.history.fates()
        } catch {
            throw TidelogError(error)
        }
        return summaries.map { sequence, summary in
            let now: ReplayedOperation.Outcome =
                if let reason = stage.impossible[sequence] {
                    .impossible(reason)
                } else {
                    stage.sequences[sequence].flatMap { fatesNow[$0] }.map(ReplayedOperation.Outcome.init)
                        ?? .impossible("It was not made.")
                }
            return ReplayedOperation(
                sequence: sequence, summary: summary,
                then: fates[sequence].map(ReplayedOperation.Outcome.init) ?? .open("unknown"),
                now: now)
        }
    }
}

extension ReplayedOperation.Outcome {
    init(_ fate: OperationFate) {
        switch fate {
        case .confirmed: self = .confirmed
        case .rejected(_, let refusal): self = .rejected(status: refusal.status, code: refusal.code)
        // Whether an update went by itself or was put together with others is the upload's business.
        case .elided: self = .open("elided")
        default: self = .open(fate.name)
        }
    }
}
