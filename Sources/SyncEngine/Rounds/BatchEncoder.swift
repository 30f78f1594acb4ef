public import EDM
public import ODataWire
public import SyncCore

/// Writes a plan as the bytes of a `$batch` request, or as single requests.
public struct BatchEncoder: Sendable {
    private let encoder: RequestEncoder

    public init(model: EntityDataModel, serviceRoot: String, options: ServiceOptions = ServiceOptions()) {
        encoder = RequestEncoder(version: model.version, model: model, serviceRoot: serviceRoot, options: options)
    }

    /// A request of the plan as it goes to a service without `$batch`.
    public func encode(_ request: PlannedRequest) -> WireRequest { encoder.encode(request.modification) }

    /// The batch, and its requests by change set.
    public struct Encoded: Sendable {
        public let exchange: BatchExchange
        public let changeSets: [[WireRequest]]

        public var request: WireRequest { exchange.request }
    }

    /// - Parameter number: names what stands between the parts, so that the same plan under the same number gives the
    ///   same bytes.
    public func encode(_ plan: UploadPlan, number: UInt64) throws(TidelogError) -> Encoded {
        let changeSets = plan.changeSets.map { $0.requests.map { encoder.encode($0.modification).asBatchPart } }
        let batch = BatchRequest(
            parts: zip(plan.changeSets, changeSets).map { planned, requests in
                .changeSet(
                    zip(planned.requests, requests).map {
                        BatchPart.Member(contentID: $0.contentID, request: $1)
                    })
            })
        do throws(BatchWriteError) {
            let exchange = try BatchExchange(
                batch, version: encoder.version, options: encoder.options, headers: encoder.headers, number: number)
            return Encoded(exchange: exchange, changeSets: changeSets)
        } catch {
            throw TidelogError(.invalidRequest, "The batch cannot be written: \(error)", cause: error)
        }
    }
}
