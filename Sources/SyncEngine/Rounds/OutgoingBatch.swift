import EDM
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// A batch with its requests in their final form.
struct OutgoingBatch {
    private(set) var batch: UploadedBatch
    private let encoder: BatchEncoder
    /// Whether the service recognizes these requests if they are repeated.
    private let isRepeatable: Bool

    /// - Parameter client: The permanent identifier of the store.
    init(
        _ plan: UploadPlan, number: BatchID, _ encoder: BatchEncoder, client: String, environment: SyncEnvironment
    ) {
        self.encoder = encoder
        batch = encoder.batch(plan, number: number)
        let form = encoder.options.repeatability
        var marked = batch
        // The log does not contain the content of streams, so the request could not be repeated byte by byte.
        if !plan.writesStream {
            RepeatabilityHeaders(form: form, client: client, environment: environment).mark(&marked)
        }
        // A single change set that is too large for a record is not repeatable. If it becomes in doubt, it is resolved
        // by reading.
        let isTooLarge = plan.changeSets.count == 1 && marked.recordedSize > Self.longest
        isRepeatable = form != .none && !plan.writesStream && !isTooLarge
        if isRepeatable { batch = marked }
    }

    private static var longest: Int { 12 << 20 }

    /// Whether the requests can be logged in one record. A record holds at most 16 MiB; the limit here is lower.
    var fitsRecord: Bool { !isRepeatable || batch.recordedSize <= 4 << 20 }

    /// A batch ready to be logged and sent.
    struct Encoded {
        let prepared: BatchPrepared
        /// The `$batch` request; nil for a single request, and if there is an obstacle.
        let request: WireRequest?
        /// A header that cannot be sent. New operations cannot have such a header, but older logs may contain some.
        let obstacle: HeaderObstacle?
    }

    /// Returns the batch as it is logged and sent.
    ///
    /// - Throws: `invalidRequest` if the batch cannot be written.
    func encoded(_ plan: UploadPlan) throws(TidelogError) -> Encoded {
        var prepared = plan.prepared(as: batch.number)
        if isRepeatable { prepared.sent = batch.changeSets.map { $0.requests.compactMap(\.sent) } }
        let supportsBatch = encoder.options.supportsBatch
        let obstacle = batch.wires.lazy.compactMap { $0.headers.obstacle(inBatch: supportsBatch) }.first
        if let obstacle { return Encoded(prepared: prepared, request: nil, obstacle: obstacle) }
        let request = supportsBatch ? try encoder.encode(batch).request : nil
        prepared.fingerprint = encoder.fingerprint(request?.body ?? BatchEncoder.bytes(ofSingle: batch))
        return Encoded(prepared: prepared, request: request, obstacle: nil)
    }
}

extension UploadedBatch {
    /// The approximate size of the requests in a record.
    fileprivate var recordedSize: Int { wires.reduce(0) { $0 + $1.body.count + $1.url.utf8.count + 512 } }
}

extension UploadedRequest {
    /// The request as logged.
    fileprivate var sent: BatchPrepared.SentRequest? {
        wire.map { BatchPrepared.SentRequest($0, contentID: contentID) }
    }
}
