import EDM
import ODataWire
import Operations
import SyncCore

/// The records of operations that do not fit the metadata.
struct IncompatibleOperations {
    let core: StoreCore

    /// Adds to the running transaction a record of the given operations that do not fit the metadata.
    ///
    /// The operations have just turned out not to have taken effect, and the metadata may have changed since they were
    /// sent.
    func add(among operations: [SequenceNumber]) throws {
        guard !operations.isEmpty, core.hasModel else { return }
        try core.finishRebase()
        let model = try core.model
        let fit = OperationCompatibility(storage: core.state, model: model)
        let requests = QueuedRequest(
            state: core.state, model: model, root: try core.service?.root ?? "", options: try core.serviceOptions)
        var found: [IncompatibleOperation] = []
        for sequence in operations {
            guard let pending = try core.state.pendingOperation(sequence), pending.status.batch == nil,
                !pending.isIncompatible, let reason = try fit.misfit(of: pending.operation)
            else { continue }
            found.append(try Self.record(pending, reason, requests))
        }
        if !found.isEmpty { try core.add(.operationsIncompatible(found)) }
    }

    static func record(
        _ pending: PendingOperation, _ reason: String, _ requests: QueuedRequest
    ) throws -> IncompatibleOperation {
        let request = try requests.request(pending.operation)
        let body = request.flatMap { $0.body.isEmpty ? nil : String(decoding: $0.body, as: UTF8.self) }
        return IncompatibleOperation(
            operation: pending.sequence,
            refusal: Refusal(
                modelChanged: reason + pending.standing, method: request?.method ?? "", url: request?.url ?? "",
                requestBody: body))
    }
}

extension PendingOperation {
    /// The previous refusal, as a sentence to append.
    fileprivate var standing: String {
        if case .rejected(let refusal) = status { " The service rejected it before: \(refusal.message)" } else { "" }
    }
}
