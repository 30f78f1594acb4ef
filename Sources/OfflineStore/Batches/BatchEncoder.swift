package import EDM
package import ODataWire
package import Operations
package import SyncCore

/// An encoder that writes an upload plan as a `$batch` request, or as single requests.
package struct BatchEncoder: Sendable {
    package let encoder: RequestEncoder
    package var options: ServiceOptions { encoder.options }
    /// Called with the number of each batch that the current task encodes. For tests.
    @TaskLocal package static var observer: (@Sendable (BatchID) -> Void)?
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

    /// Returns the batch of a plan, with its requests as parts of a batch or as single requests.
    package func batch(_ plan: UploadPlan, number: BatchID) -> UploadedBatch {
        UploadedBatch(plan, number: number) { planned in
            let request = encode(planned)
            return options.supportsBatch ? request.asBatchPart : request
        }
    }

    /// Encodes a batch as a `$batch` request. Its number determines the boundaries between the parts, so that the same
    /// batch always gives the same bytes.
    ///
    /// - Throws: `invalidRequest` if the batch cannot be written.
    package func encode(_ batch: UploadedBatch) throws(TidelogError) -> BatchExchange {
        try encode(batch.request, number: batch.number)
    }

    package func encode(_ batch: BatchRequest, number: BatchID) throws(TidelogError) -> BatchExchange {
        Self.observer?(number)
        var headers = encoder.headers
        // V2 has no asynchronous batches: its 202 already carries the response.
        if encoder.options.respondsAsync, !encoder.version.isLegacy { headers["Prefer"] = "respond-async" }
        do throws(BatchWriteError) {
            return try BatchExchange(
                batch, version: encoder.version, options: encoder.options, headers: headers, number: number)
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
        let alone = batch(UploadPlan(changeSets: [changeSet]), number: 1)
        let obstacle = alone.wires.lazy.compactMap { $0.headers.obstacle(inBatch: options.supportsBatch) }.first
        if let obstacle { return Self.reason("\(obstacle)") }
        guard options.supportsBatch else { return nil }
        do throws(TidelogError) {
            _ = try encode(alone)
            return nil
        } catch {
            return Self.reason(error.message)
        }
    }

    private static func reason(_ sentence: String) -> String {
        "it cannot be sent: \(sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence)"
    }
}
