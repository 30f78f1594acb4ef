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

    package let batch: UploadedBatch
    /// The body of the `$batch` request, or for single requests the method, URL, headers and body of each.
    package let bytes: [UInt8]
    package let comparison: Comparison

    /// Rebuilds a batch.
    ///
    /// - Parameters:
    ///   - storage: The state before the record, with the pending operations applied.
    ///   - options: The service's capabilities. If the record has a fingerprint, its options replace them.
    /// - Throws: `invalidRequest` if the batch cannot be written, or a ``StateError``.
    package init(
        _ prepared: BatchPrepared, on storage: WorkingSet, _ model: EntityDataModel, serviceRoot: String,
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
        batch = Self.marked(encoder.batch(plan, number: prepared.batch), as: prepared.sent)
        bytes =
            options.supportsBatch ? try encoder.encode(batch).request.body : BatchEncoder.bytes(ofSingle: batch)
        if let fingerprint = prepared.fingerprint {
            comparison = encoder.fingerprint(bytes).digest == fingerprint.digest ? .identical : .different
        } else {
            comparison = .unknown
        }
    }

    /// Returns the batch with the logged repeatability identifiers, which were drawn at random.
    private static func marked(_ batch: UploadedBatch, as sent: [[BatchPrepared.SentRequest]]) -> UploadedBatch {
        guard sent.map(\.count) == batch.changeSets.map(\.requests.count) else { return batch }
        var batch = batch
        var logged = sent.joined().makeIterator()
        batch.mapWires { request in
            var wire = request.wire
            for header in logged.next()?.headers ?? [] where RepeatabilityHeaders.names.contains(header.name) {
                wire?.headers[header.name] = header.value
            }
            return wire
        }
        return batch
    }
}
