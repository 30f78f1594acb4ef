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

    /// - Parameter hasGap: whether records in front of it are lost.
    init(
        _ prepared: BatchPrepared, on state: WorkingSet, _ model: EntityDataModel, serviceRoot: String,
        options: ServiceOptions, hasGap: Bool
    ) {
        do {
            if let missing = try prepared.operations.first(where: { try state.pendingOperation($0) == nil }) {
                throw Self.unknown(missing)
            }
            let rebuilt = try RebuiltBatch(prepared, on: state, model, serviceRoot: serviceRoot, options: options)
            self.init(prepared.batch, rebuilt, hasGap: hasGap)
        } catch {
            self.init(prepared.batch, unbuildable: (error as? TidelogError)?.message ?? "\(error)")
        }
    }

    init(_ batch: BatchID, _ rebuilt: RebuiltBatch, hasGap: Bool = false) {
        self.batch = batch
        bytes = rebuilt.bytes
        requests = rebuilt.requests
        comparison =
            switch rebuilt.comparison {
            case .identical: .identical
            case .different where hasGap: .unbuildable(Self.gap)
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

    private static func unknown(_ operation: SequenceNumber) -> TidelogError {
        TidelogError(.notFound, "Of operation \(operation), which it carried, nothing is known: records are lost.")
    }

    private static let gap = "Records in front of it are lost, and without them it is another one."
}
