import EDM
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// The requests of a plan in their final form.
struct OutgoingBatch {
    /// The requests, by change set.
    let requests: [[WireRequest]]
    private let plan: UploadPlan
    private let encoder: BatchEncoder
    /// Whether the service recognizes these requests if they are repeated.
    private let isRepeatable: Bool

    /// - Parameter client: The permanent identifier of the store.
    init(_ plan: UploadPlan, _ encoder: BatchEncoder, client: String, environment: SyncEnvironment) {
        self.plan = plan
        self.encoder = encoder
        let plain = encoder.requests(of: plan)
        let form = encoder.options.repeatability
        // The log does not contain the content of streams, so the request could not be repeated byte by byte.
        let marked =
            plan.writesStream
            ? plain : RepeatabilityHeaders(form: form, client: client, environment: environment).mark(plain)
        // A single change set that is too large for a record is not repeatable. If it becomes in doubt, it is resolved
        // by reading.
        let isTooLarge = Self.size(of: marked) > Self.longest && plan.changeSets.count == 1
        isRepeatable = form != .none && !plan.writesStream && !isTooLarge
        requests = isRepeatable ? marked : plain
    }

    private static var longest: Int { 12 << 20 }

    private static func size(of requests: [[WireRequest]]) -> Int {
        requests.joined().reduce(0) { $0 + $1.body.count + $1.url.utf8.count + 512 }
    }

    /// Whether the requests can be logged in one record. A record holds at most 16 MiB; the limit here is lower.
    var fitsRecord: Bool { !isRepeatable || Self.size(of: requests) <= 4 << 20 }

    /// A batch ready to be logged and sent.
    struct Encoded {
        let prepared: BatchPrepared
        /// The `$batch` request; nil for a single request, and if there is an obstacle.
        let request: WireRequest?
        /// A header that cannot be sent. New operations cannot have such a header, but older logs may contain some.
        let obstacle: HeaderObstacle?
    }

    /// Returns the batch with this number.
    ///
    /// - Throws: `invalidRequest` if the batch cannot be written.
    func encoded(as number: BatchID) throws(TidelogError) -> Encoded {
        var prepared = plan.prepared(as: number)
        if isRepeatable {
            prepared.sent = zip(plan.changeSets, requests).map { changeSet, requests in
                zip(changeSet.requests, requests).map { BatchPrepared.SentRequest($1, contentID: $0.contentID) }
            }
        }
        let supportsBatch = encoder.options.supportsBatch
        let obstacle = requests.joined().lazy.compactMap { $0.headers.obstacle(inBatch: supportsBatch) }.first
        if let obstacle { return Encoded(prepared: prepared, request: nil, obstacle: obstacle) }
        let request = supportsBatch ? try encoder.encode(requests, of: plan, number: number).request : nil
        prepared.fingerprint = encoder.fingerprint(request?.body ?? BatchEncoder.bytes(ofSingle: requests))
        return Encoded(prepared: prepared, request: request, obstacle: nil)
    }
}
