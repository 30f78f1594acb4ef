import EDM
import ODataWire
import OfflineStore
package import Operations
import SyncCore

/// A batch that was rebuilt from the state that it was planned from.
package struct ReplayedBatch: Sendable, Hashable {
    /// The comparison with the sent batch.
    package enum Comparison: Sendable, Hashable {
        /// The bytes are identical.
        case identical
        case different
        /// The log was written by a version without fingerprints.
        case unknown
        /// The batch cannot be rebuilt, for this reason: a sentence.
        case unbuildable(String)
    }

    package let batch: BatchID
    package let comparison: Comparison
    /// The body of the `$batch` request, or a single request with method, URL and headers, without credentials, tokens
    /// and cookies. Empty if the batch cannot be rebuilt.
    package let bytes: [UInt8]
    /// The rebuilt requests; empty if the batch cannot be rebuilt.
    let requests: [UploadedRequest]

    /// Rebuilds a batch.
    ///
    /// - Parameter hasGap: Whether earlier records are lost.
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
        requests = rebuilt.batch.requests
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
        TidelogError(.notFound, "Operation \(operation), which the batch contains, is not known: records are lost.")
    }

    private static let gap = "The batch cannot be rebuilt, because records before it are lost."
}
