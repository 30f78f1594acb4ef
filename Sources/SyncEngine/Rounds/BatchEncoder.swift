public import EDM
public import ODataWire
public import SyncCore

/// Writes a plan as the bytes of a `$batch` request, or as single requests.
public struct BatchEncoder: Sendable {
    private let encoder: RequestEncoder
    private let writer: MultipartBatchWriter

    public init(model: EntityDataModel, serviceRoot: String, options: ServiceOptions = ServiceOptions()) {
        encoder = RequestEncoder(version: model.version, model: model, serviceRoot: serviceRoot, options: options)
        writer = MultipartBatchWriter(contentIDLocation: options.contentIDLocation)
    }

    /// A request of the plan as it goes to a service without `$batch`.
    public func encode(_ request: PlannedRequest) -> WireRequest { encoder.encode(request.modification) }

    /// The request with its body, the batch as it is needed to match the answer, and the single requests.
    public struct Encoded: Sendable {
        public let request: WireRequest
        public let batch: BatchRequest
        public let changeSets: [[WireRequest]]
    }

    /// - Parameter number: names the boundaries, so that the same plan under the same number gives the same bytes.
    public func encode(_ plan: UploadPlan, number: UInt64) throws(TidelogError) -> Encoded {
        let changeSets = plan.changeSets.map { $0.requests.map { encoder.encode($0.modification).asBatchPart } }
        let batch = BatchRequest(
            parts: zip(plan.changeSets, changeSets).map { planned, requests in
                .changeSet(
                    zip(planned.requests, requests).map {
                        BatchPart.Member(contentID: $0.contentID, request: $1)
                    })
            })
        let boundary = "batch_tidelog_\(number)"
        var headers = encoder.headers
        headers["Content-Type"] = MultipartBatchWriter.contentType(boundary: boundary)
        headers["Accept"] = "multipart/mixed"
        do throws(BatchWriteError) {
            let body = try writer.write(
                batch, boundary: boundary, changeSetBoundary: { "changeset_\(number)_\($0 + 1)" })
            return Encoded(
                request: WireRequest(method: "POST", url: "$batch", headers: headers, body: body), batch: batch,
                changeSets: changeSets)
        } catch {
            throw TidelogError(.invalidRequest, "The batch cannot be written: \(error)", cause: error)
        }
    }
}
