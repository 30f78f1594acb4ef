import EDM
import ODataWire
public import Operations
import SyncCore
import SyncEngine

/// A batch built again, from the state that it was built from the first time.
public struct ReplayedBatch: Sendable, Hashable {
    /// How it compares with what was sent.
    public enum Comparison: Sendable, Hashable {
        /// The same, to the byte.
        case identical
        case different
        /// The log is of a version that kept nothing to compare with.
        case unknown
        /// It cannot be built; a sentence.
        case unbuildable(String)
    }

    public let batch: BatchID
    public let comparison: Comparison
    /// The body of the `$batch` request, or a request that went by itself, with method, URL and headers. Without what every
    /// sending adds: credentials, tokens, cookies. Empty where it cannot be built.
    public let bytes: [UInt8]
    /// By change set.
    let requests: [[WireRequest]]

    init(
        _ prepared: BatchPrepared, on state: MemoryState, _ model: EntityDataModel, serviceRoot: String,
        options: ServiceOptions
    ) {
        do {
            let rebuilt = try RebuiltBatch(prepared, on: state, model, serviceRoot: serviceRoot, options: options)
            self.init(prepared.batch, rebuilt)
        } catch {
            self.init(prepared.batch, unbuildable: (error as? TidelogError)?.message ?? "\(error)")
        }
    }

    init(_ batch: BatchID, _ rebuilt: RebuiltBatch) {
        self.batch = batch
        bytes = rebuilt.bytes
        requests = rebuilt.requests
        comparison =
            switch rebuilt.comparison {
            case .identical: .identical
            case .different: .different
            case .unknown: .unknown
            }
    }

    init(_ batch: BatchID, unbuildable reason: String) {
        self.batch = batch
        bytes = []
        requests = []
        comparison = .unbuildable(reason)
    }
}
