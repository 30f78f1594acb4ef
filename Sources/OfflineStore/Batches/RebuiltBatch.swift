package import Operations
package import ODataWire
package import SyncCore
package import EDM

/// The request bytes of a logged batch, rebuilt from the state that the batch was planned from. The log itself does not
/// contain them.
package struct RebuiltBatch: Sendable {
    package enum Comparison: Sendable, Hashable {
        /// The bytes are identical.
        case identical
        case different
        /// The log has no fingerprint to compare with.
        case unknown
    }

    /// The requests, by change set.
    package let requests: [[WireRequest]]
    /// The body of the `$batch` request, or for single requests the method, URL, headers and body of each.
    package let bytes: [UInt8]
    package let comparison: Comparison

    /// Rebuilds a batch.
    ///
    /// - Parameters:
    ///   - storage: The state before the record, with the pending operations applied.
    ///   - options: The service's capabilities. If the record has a fingerprint, its options replace them.
    /// - Throws: `invalidRequest` if the batch cannot be written, or a ``StateError``.
    package init<Storage: StateStorage>(
        _ prepared: BatchPrepared, on storage: Storage, _ model: EntityDataModel, serviceRoot: String,
        options: ServiceOptions
    ) throws {
        var options = options
        if let fingerprint = prepared.fingerprint {
            options = .unnamedInFingerprints
            for option in fingerprint.options {
                do throws(ServiceOptions.InvalidOption) {
                    try options.set(option.name, to: option.value)
                } catch {
                    throw TidelogError(
                        .unsupported,
                        "Batch \(prepared.batch) was built with an option that this version does not support.",
                        recovery: "Use a newer version of Tidelog.", cause: error)
                }
            }
        }
        let plan = try BatchReplanner(storage: storage, model: model, options: options).plan(of: prepared)
        let encoder = BatchEncoder(model: model, serviceRoot: serviceRoot, options: options)
        requests = Self.marked(encoder.requests(of: plan), as: prepared.sent)
        bytes =
            options.supportsBatch
            ? try encoder.encode(requests, of: plan, number: prepared.batch).request.body
            : BatchEncoder.bytes(ofSingle: requests)
        if let fingerprint = prepared.fingerprint {
            comparison = encoder.fingerprint(bytes).digest == fingerprint.digest ? .identical : .different
        } else {
            comparison = .unknown
        }
    }

    /// Returns the requests with their logged repeatability identifiers, which were drawn at random.
    private static func marked(
        _ requests: [[WireRequest]], as sent: [[BatchPrepared.SentRequest]]
    ) -> [[WireRequest]] {
        guard sent.map(\.count) == requests.map(\.count) else { return requests }
        return zip(requests, sent).map { requests, sent in
            zip(requests, sent).map { request, sent in
                var request = request
                for header in sent.headers where RepeatabilityHeaders.names.contains(header.name) {
                    request.headers[header.name] = header.value
                }
                return request
            }
        }
    }
}
