import ODataWire
import OfflineStore
import OperationLog
package import Operations
import SyncCore

/// The requests by which a batch sent an operation, rebuilt from the state that they were built from. The log contains
/// requests only if they are repeatable.
package struct BuiltRequests: Sendable, Hashable {
    /// The comparison of the rebuilt batch with the one that was sent.
    package let comparison: ReplayedBatch.Comparison
    /// The requests in the order of the batch. An operation may need several. Empty if they cannot be built.
    package let requests: [Request]

    /// A request without the headers that each transmission adds, such as credentials, tokens and cookies.
    package struct Request: Sendable, Hashable {
        package let method: String
        /// The URL, usually relative to the service root, or beginning with `$` and a Content-ID.
        package let url: String
        package let headers: [Operation.Header]
        package let body: [UInt8]
    }
}

extension InspectedStore {
    /// Returns the detail with the requests of an operation in each batch of the log.
    ///
    /// Cost: the historical state before each of these batches is built.
    package func buildingRequests(of detail: RecordDetail) async -> RecordDetail {
        guard detail.entry.operation != nil else { return detail }
        var detail = detail
        for (place, exchange) in detail.exchanges.enumerated() {
            guard let record = exchange.prepared else { continue }
            detail.exchanges[place].built = await built(record, for: exchange.operation)
        }
        return detail
    }

    /// Rebuilds the requests of an operation.
    ///
    /// - Parameter record: The record that logged the batch as prepared.
    private func built(_ record: SequenceNumber, for operation: SequenceNumber) async -> BuiltRequests? {
        let found = try? readable { reader throws in try reader.record(record) }
        guard let found, let body = try? RecordCodec.decode(kind: found.kind, payload: found.payload).body,
            case .batchPrepared(let prepared) = body
        else { return nil }
        let batch: ReplayedBatch
        do throws(TidelogError) {
            let past = try await past(at: .sequence(record - 1))
            batch = ReplayedBatch(prepared.batch, try await past.store.history.rebuilt(prepared))
        } catch {
            batch = ReplayedBatch(prepared.batch, unbuildable: error.message)
        }
        let requests = batch.requests.filter { $0.operations.contains(operation) }.compactMap(\.wire)
        return BuiltRequests(comparison: batch.comparison, requests: requests.map(BuiltRequests.Request.init))
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
