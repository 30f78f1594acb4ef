import EDM
import ODataWire
import Operations

/// The used part of a batch's limits.
///
/// A change set is accepted completely or not at all. The first one is always accepted; after one was refused, all
/// later ones are refused too, so that the order is preserved.
struct BatchSize {
    /// The size of the multipart framing of a request: boundaries, `Content-Type`, `Content-ID`, lengths.
    private static let framing = 192

    private let requestLimit: Int
    private let byteLimit: Int?
    private let encoder: RequestEncoder
    private var requests = 0
    private var bytes = 0
    private var isFull = false

    init(resolver: EntityResolver<WorkingSet>, requestLimit: Int, byteLimit: Int?, service: ServiceOptions)
        throws(StateError)
    {
        self.requestLimit = requestLimit
        self.byteLimit = byteLimit
        encoder = RequestEncoder(
            version: resolver.model.version, model: resolver.model,
            serviceRoot: try resolver.storage.header().service?.root ?? "", options: service)
    }

    mutating func takes(_ changeSet: PlannedChangeSet) -> Bool {
        guard !isFull else { return false }
        let length = byteLimit == nil ? 0 : changeSet.requests.reduce(0) { $0 + self.length(of: $1) }
        let fits =
            requests + changeSet.requests.count <= requestLimit && byteLimit.map { bytes + length <= $0 } ?? true
        guard fits || requests == 0 else {
            isFull = true
            return false
        }
        requests += changeSet.requests.count
        bytes += length
        return true
    }

    private func length(of request: PlannedRequest) -> Int {
        let encoded = encoder.encode(request.modification).asBatchPart
        let headers = encoded.headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        return Self.framing + encoded.method.utf8.count + encoded.url.utf8.count + headers + encoded.body.count
    }
}
