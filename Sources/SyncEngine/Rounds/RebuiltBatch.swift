package import Operations
package import ODataWire
package import SyncCore
package import EDM

/// A batch that was prepared once, built again from the state that it was built from: what went over the line, which the log
/// does not keep.
package struct RebuiltBatch: Sendable {
    package enum Comparison: Sendable, Hashable {
        /// To the byte.
        case identical
        case different
        /// The log has no fingerprint to compare with.
        case unknown
    }

    /// By change set.
    package let requests: [[WireRequest]]
    /// The body of the `$batch` request; what goes by itself, method, URL and headers included.
    package let bytes: [UInt8]
    package let comparison: Comparison

    /// - Parameters:
    ///   - storage: the state in front of the record, with the pending operations on top.
    ///   - options: what the service lacked; those of the fingerprint come before them.
    /// - Throws: `invalidRequest` where the batch cannot be written; a ``StateError``.
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
                        .unsupported, "Batch \(prepared.batch) was built by an option that this version does not know.",
                        recovery: "Use a newer Tidelog.", cause: error)
                }
            }
        }
        let plan = try SentPlan(storage: storage, model: model, options: options).plan(
            of: prepared, Array(prepared.changeSets.indices))
        let encoder = BatchEncoder(model: model, serviceRoot: serviceRoot, options: options)
        requests = Self.marked(encoder.requests(of: plan), as: prepared.sent)
        bytes = try encoder.bytes(of: requests, plan, number: prepared.batch)
        if let fingerprint = prepared.fingerprint {
            comparison = encoder.fingerprint(bytes).digest == fingerprint.digest ? .identical : .different
        } else {
            comparison = .unknown
        }
    }

    /// With the identifiers by which the service knows the requests again: these were drawn at random, and are in the log.
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
