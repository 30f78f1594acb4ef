import EDM
import ODataWire
import Operations
import SyncCore
import Views

/// Converts pending operations to archive entries and rows.
struct QueueReader {
    let state: WorkingSet
    let requests: QueuedRequest

    /// Returns the archive entry of an operation, or nil if it is not in the archive.
    ///
    /// - Parameter conflict: The conflict whose decision the operation waits for, if any.
    func archived(_ pending: PendingOperation, conflict: Conflict?) throws -> ErrorArchiveEntry? {
        let operation = pending.operation
        var entry = ErrorArchiveEntry(
            requestID: pending.sequence, state: .inDoubt, time: pending.time, action: operation.actionName, code: "",
            message: "", errorClass: .communication, requestMethod: "", requestURL: "",
            customTag: operation.customTag, headers: operation.headers, entity: operation.subject,
            affectedEntity: try link(operation.subject))
        switch pending.status {
        case .rejected(let refusal):
            entry.state = conflict == nil ? .rejected : .conflict
            entry.httpStatusCode = refusal.isOfModel ? nil : refusal.status
            entry.code = refusal.code
            entry.message = refusal.message
            entry.innerError = refusal.innerError
            entry.errorClass = refusal.isOfModel ? .modelChanged : ErrorClass(status: refusal.status)
            entry.requestMethod = refusal.method
            entry.requestURL = refusal.url
            entry.requestBody = refusal.requestBody
        case .inDoubt(_, let reason):
            entry.message = reason
            try addRequest(of: operation, to: &entry)
        case .pending, .deferred:
            guard let conflict else { return nil }
            (entry.state, entry.errorClass) = (.conflict, .conflict)
            entry.message =
                switch conflict.kind {
                case .changed: "Another client changed \(conflict.name) too."
                case .deletedByOthers: "Another client deleted \(conflict.name)."
                case .deletedHere: "Another client changed \(conflict.name), which is deleted in this store."
                }
            try addRequest(of: operation, to: &entry)
        case .inFlight: return nil
        }
        return entry
    }

    /// Adds the request as it would be sent now.
    private func addRequest(of operation: Operation, to entry: inout ErrorArchiveEntry) throws {
        guard let request = try requests.request(operation) else { return }
        entry.requestMethod = request.method
        entry.requestURL = request.url
        entry.requestBody = request.body.isEmpty ? nil : String(decoding: request.body, as: UTF8.self)
    }

    func row(_ entry: ErrorArchiveEntry) -> EntityRow {
        var values: PropertyValues = [
            "State": .string(entry.state.rawValue),
            "HTTPStatusCode": entry.httpStatusCode.map { .integer(Int64($0)) } ?? .null,
            "Code": .string(entry.code), "Message": .string(entry.message), "InnerError": Self.text(entry.innerError),
            "Domain": .string(entry.errorClass.rawValue), "RequestMethod": .string(entry.requestMethod),
            "RequestURL": .string(entry.requestURL), "RequestBody": Self.text(entry.requestBody),
            "Reason": .string(entry.message),
        ]
        values.merge(
            common(
                entry.requestID, entry.time, entry.action, entry.customTag, entry.headers, entry.affectedEntity))
        return EntityRow(
            id: EntityID(rawValue: entry.requestID), set: QueueModel.archive, type: QueueModel.archiveType,
            values: values, origin: .service)
    }

    func row(_ pending: PendingOperation, held: HoldReason?) throws -> EntityRow {
        let operation = pending.operation
        let request = try requests.request(operation)
        let category: String? =
            switch operation.uploadCategory {
            case .named(let name): name
            case .entity(let entity): try link(entity)
            case nil: nil
            }
        var values: PropertyValues = [
            "Status": .string("\(pending.status.kind)"), "Reason": Self.text(held?.description),
            "Method": Self.text(request?.method), "URL": Self.text(request?.url),
            "Body": Self.text(
                request.flatMap { $0.body.isEmpty ? nil : String(decoding: $0.body, as: UTF8.self) }),
            "TransactionID": Self.text(operation.transactionID), "UploadCategory": Self.text(category),
            "Delivery": .string("\(operation.delivery)"), "Unmodifiable": .boolean(operation.isUnmodifiable),
        ]
        values.merge(
            common(
                pending.sequence, pending.time, operation.actionName, operation.customTag, operation.headers,
                try link(operation.subject)))
        return EntityRow(
            id: EntityID(rawValue: pending.sequence), set: QueueModel.queue, type: QueueModel.queueType,
            values: values, origin: .service)
    }

    static func row(_ event: StoreEvent) -> EntityRow {
        let values: PropertyValues = [
            "ID": .integer(Int64(clamping: event.id)), "Type": .string(event.kind == .download ? "Download" : "Upload"),
            "Details": text(event.subset?.joined(separator: ",")), "Time": time(event.time),
        ]
        return EntityRow(
            id: EntityID(rawValue: event.id), set: QueueModel.events, type: QueueModel.eventType, values: values,
            origin: .service)
    }

    private static func time(_ time: Timestamp) -> Value {
        GlobalDateTime(millisecondsSince1970: time).map(Value.dateTimeOffset) ?? .null
    }

    private func common(
        _ number: SequenceNumber, _ time: Timestamp, _ action: String, _ tag: String?, _ headers: [Operation.Header],
        _ link: String
    ) -> PropertyValues {
        [
            "RequestID": .integer(Int64(clamping: number)), "CustomTag": Self.text(tag), "Action": .string(action),
            "EntityLink": .string(link),
            "Time": Self.time(time),
            "CustomHeaders": .collection(
                headers.map {
                    .complex(
                        ComplexValue(
                            type: QueueModel.headerType,
                            properties: ["Name": .string($0.name), "Value": .string($0.value)]))
                }),
        ]
    }

    private func link(_ id: EntityID) throws -> String {
        id == .unbound ? "" : "\(try state.set(of: id) ?? "")(\(id))"
    }

    private static func text(_ text: String?) -> Value { text.map(Value.string) ?? .null }
}

extension Operation {
    fileprivate var actionName: String {
        if call != nil { return "call" }
        return switch action {
        case .create: "create"
        case .update: "update"
        case .delete: "delete"
        case .createLink: "createLink"
        case .updateLink: "updateLink"
        case .deleteLink: "deleteLink"
        }
    }
}
