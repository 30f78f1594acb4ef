package import EDM
package import ODataWire
package import SyncCore

/// An encoder that writes an upload plan as a `$batch` request, or as single requests.
package struct BatchEncoder: Sendable {
    package let encoder: RequestEncoder
    package var options: ServiceOptions { encoder.options }
    var version: ODataVersion { encoder.version }

    /// Creates an encoder for a service.
    ///
    /// - Parameter givenRoot: The configured root if it redirects to `serviceRoot`.
    package init(
        model: EntityDataModel, serviceRoot: String, options: ServiceOptions = ServiceOptions(),
        givenRoot: String? = nil
    ) {
        encoder = RequestEncoder(
            version: model.version, model: model, serviceRoot: serviceRoot, options: options, givenRoot: givenRoot)
    }

    /// Returns a request of the plan as it is sent to a service without `$batch`.
    package func encode(_ request: PlannedRequest) -> WireRequest { encoder.encode(request.modification) }

    /// An encoded batch, and its requests by change set.
    package struct Encoded: Sendable {
        package let exchange: BatchExchange
        package let changeSets: [[WireRequest]]

        package var request: WireRequest { exchange.request }
    }

    /// Encodes a plan as a `$batch` request.
    ///
    /// - Parameter number: The number that the boundaries between the parts are derived from. The same plan and number
    ///   always give the same bytes.
    /// - Throws: `invalidRequest` if the batch cannot be written.
    package func encode(_ plan: UploadPlan, number: UInt64) throws(TidelogError) -> Encoded {
        try encode(requests(of: plan), of: plan, number: number)
    }

    /// Returns the plan's requests by change set, as parts of a batch or as single requests.
    package func requests(of plan: UploadPlan) -> [[WireRequest]] {
        plan.changeSets.map { changeSet in
            changeSet.requests.map {
                let request = encoder.encode($0.modification)
                return encoder.options.supportsBatch ? request.asBatchPart : request
            }
        }
    }

    /// Encodes requests that were already made from the plan.
    ///
    /// - Parameter requests: The plan's requests, by change set.
    package func encode(
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

    package func encode(
        _ batch: BatchRequest, _ requests: [[WireRequest]], number: UInt64
    ) throws(TidelogError) -> Encoded {
        var headers = encoder.headers
        // V2 has no asynchronous batches: its 202 already carries the response.
        if encoder.options.respondsAsync, !encoder.version.isLegacy { headers["Prefer"] = "respond-async" }
        do throws(BatchWriteError) {
            let exchange = try BatchExchange(
                batch, version: encoder.version, options: encoder.options, headers: headers, number: number)
            return Encoded(exchange: exchange, changeSets: requests)
        } catch {
            throw TidelogError(.invalidRequest, "The batch cannot be written: \(error)", cause: error)
        }
    }

    /// Returns the plan without the change sets that contain an unwritable request.
    ///
    /// An ETag with a line break, for example, makes a request unwritable. The operations of such a change set are held
    /// with the reason; the other change sets stay in the plan.
    package func sendable(_ plan: UploadPlan) -> UploadPlan {
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
