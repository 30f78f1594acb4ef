public import EDM
public import ODataWire
public import SyncCore

/// Writes a plan as the bytes of a `$batch` request, or as single requests.
public struct BatchEncoder: Sendable {
    private let encoder: RequestEncoder
    var options: ServiceOptions { encoder.options }
    var version: ODataVersion { encoder.version }

    /// - Parameter givenRoot: the root that redirects to `serviceRoot`, if there is one.
    public init(
        model: EntityDataModel, serviceRoot: String, options: ServiceOptions = ServiceOptions(),
        givenRoot: String? = nil
    ) {
        encoder = RequestEncoder(
            version: model.version, model: model, serviceRoot: serviceRoot, options: options, givenRoot: givenRoot)
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
        try encode(requests(of: plan), of: plan, number: number)
    }

    /// The plan's requests by change set, as parts of a batch, or by themselves.
    func requests(of plan: UploadPlan) -> [[WireRequest]] {
        plan.changeSets.map { changeSet in
            changeSet.requests.map {
                let request = encoder.encode($0.modification)
                return encoder.options.supportsBatch ? request.asBatchPart : request
            }
        }
    }

    /// - Parameter requests: those of the plan, by change set.
    func encode(
        _ requests: [[WireRequest]], of plan: UploadPlan, number: UInt64
    ) throws(TidelogError) -> Encoded {
        let batch = BatchRequest(
            parts: zip(plan.changeSets, requests).map { planned, requests in
                .changeSet(
                    zip(planned.requests, requests).map {
                        BatchPart.Member(contentID: $0.contentID, request: $1)
                    })
            })
        return try encode(batch, requests, number: number)
    }

    func encode(
        _ batch: BatchRequest, _ requests: [[WireRequest]], number: UInt64
    ) throws(TidelogError) -> Encoded {
        var headers = encoder.headers
        // V2 has no such thing: its 202 means that the answer is here.
        if encoder.options.respondsAsync, !encoder.version.isLegacy { headers["Prefer"] = "respond-async" }
        do throws(BatchWriteError) {
            let exchange = try BatchExchange(
                batch, version: encoder.version, options: encoder.options, headers: headers, number: number)
            return Encoded(exchange: exchange, changeSets: requests)
        } catch {
            throw TidelogError(.invalidRequest, "The batch cannot be written: \(error)", cause: error)
        }
    }

    /// The plan without the change sets of which a request cannot be written, such as one whose ETag holds a line break. Their
    /// operations are held, with the reason; the others can go.
    public func sendable(_ plan: UploadPlan) -> UploadPlan {
        var result = plan
        result.changeSets = []
        for changeSet in plan.changeSets {
            guard let reason = obstacle(in: changeSet) else {
                result.changeSets.append(changeSet)
                continue
            }
            for operation in changeSet.operations { result.held[operation] = .noLegalPlan(reason) }
        }
        return result
    }

    private func obstacle(in changeSet: PlannedChangeSet) -> String? {
        let alone = UploadPlan(changeSets: [changeSet])
        let requests = requests(of: alone)
        let obstacle = requests.joined().lazy.compactMap { $0.headers.obstacle(inBatch: options.supportsBatch) }.first
        if let obstacle { return Self.reason("\(obstacle)") }
        guard options.supportsBatch else { return nil }
        do throws(TidelogError) {
            _ = try encode(requests, of: alone, number: 1)
            return nil
        } catch {
            return Self.reason(error.message)
        }
    }

    private static func reason(_ sentence: String) -> String {
        "it cannot be sent: \(sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence)"
    }
}
