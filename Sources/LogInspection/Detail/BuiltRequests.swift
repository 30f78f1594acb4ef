import ODataWire
import OperationLog
public import Operations
import SyncEngine

/// The requests by which a batch carried an operation, built again from the state that they were built from: a log keeps
/// them only where they can be repeated.
public struct BuiltRequests: Sendable, Hashable {
    /// How the batch that they are in compares with the one that was sent.
    public let comparison: ReplayedBatch.Comparison
    /// In the order of the batch; an operation may need several. Empty where they cannot be built.
    public let requests: [Request]

    /// Without what every sending adds: credentials, tokens, cookies.
    public struct Request: Sendable, Hashable {
        public let method: String
        /// As a rule relative to the service root; or it begins with `$` and a Content-ID.
        public let url: String
        public let headers: [Operation.Header]
        public let body: [UInt8]
    }
}

extension InspectedStore {
    /// The record, where it is an operation with what went over the line for it by each batch that the log has.
    ///
    /// Cost: the store as it was in front of each of these batches is made.
    @inline(never)
    @_optimize(none)
    public func buildingRequests(of detail: RecordDetail) async -> RecordDetail {
        guard detail.entry.operation != nil else { return detail }
        var detail = detail
        for (place, exchange) in detail.exchanges.enumerated() {
            guard let record = exchange.prepared else { continue }
            detail.exchanges[place].built = await built(record, for: exchange.operation)
        }
        return detail
    }

    /// - Parameter record: the one that says that the batch was prepared.
    private func built(_ record: SequenceNumber, for operation: SequenceNumber) async -> BuiltRequests? {
        let found = try? readable { reader throws in try reader.record(record) }
        guard let found, let body = try? RecordCodec.decode(kind: found.kind, payload: found.payload).body,
            case .batchPrepared(let prepared) = body
        else { return nil }
        let batch: ReplayedBatch
        do throws(TidelogError) {
            let past = try await past(at: .sequence(record - 1))
            batch = ReplayedBatch(prepared.batch, try await past.store.rebuilt(prepared))
        } catch {
            batch = ReplayedBatch(prepared.batch, unbuildable: error.message)
        }
        return BuiltRequests(comparison: batch.comparison, requests: prepared.requests(of: operation, in: batch))
    }
}

extension BatchPrepared {
    /// Those of the batch as it was built again that carry the operation.
    fileprivate func requests(of operation: SequenceNumber, in batch: ReplayedBatch) -> [BuiltRequests.Request] {
        zip(changeSets, batch.requests).flatMap { sent, built in
            // Operations that were put together share one.
            let contentIDs = sent.indices.filter { $0 == 0 || sent[$0].contentID != sent[$0 - 1].contentID }
                .map { sent[$0].contentID }
            guard contentIDs.count == built.count else { return [BuiltRequests.Request]() }
            let wanted = Set(sent.filter { $0.operation == operation }.map(\.contentID))
            return zip(contentIDs, built).filter { wanted.contains($0.0) }.map { BuiltRequests.Request($0.1) }
        }
    }
}

extension BuiltRequests.Request {
    fileprivate init(_ request: WireRequest) {
        method = request.method
        url = request.url
        headers = request.headers.fields.map { Operation.Header(name: $0.name, value: $0.value) }
        body = request.body
    }
}
