internal import EDM
internal import Operations
internal import Tidelog

/// A pending operation, as table cells or as JSON.
struct StatusText {
    private let operation: OperationStatus

    init(_ operation: OperationStatus) { self.operation = operation }

    var cells: [String] {
        [String(operation.sequence), action, Self.name(operation.state), reason]
    }

    /// The reason of the status; empty for an operation that only waits for the next upload.
    private var reason: String {
        guard let reason = operation.reason else { return "" }
        guard operation.state != .undone else { return reason }
        let since = operation.since == operation.time ? "" : " (since \(Self.time(operation.since)))"
        let attempts = operation.attempts > 1 ? ", \(operation.attempts) times in a row" : ""
        let isPutOff = operation.state == .deferred || operation.state == .inDoubt
        let start = isPutOff ? operation.notBefore.map { ", not before \(Self.time($0))" } : nil
        // Messages of the service end with a full stop, other reasons do not.
        let words = reason.hasSuffix(".") ? reason.dropLast() : reason[...]
        return "\(words)\(attempts)\(since); \(operation.nextStep)\(start ?? "")"
    }

    static func time(_ milliseconds: Int64) -> String {
        LocalDateTime(millisecondsSince1970: milliseconds - milliseconds % 1_000).map { "\($0)Z" } ?? "?"
    }

    /// The operation as `tidelog log` prints it: `create Orders(~8) in Customers(~7)/Orders`, `link
    /// Customers(~7)/Orders → Orders(~8)`, `call CancelOrder on Orders(~8)`.
    var action: String {
        if let name = operation.call {
            return "call \(name)" + (operation.entityLink.isEmpty ? "" : " on \(operation.entityLink)")
        }
        let verb = Self.verb(operation.action)
        guard let navigation = operation.navigation, let other = operation.relatedLink else {
            return "\(verb) \(operation.entityLink)"
        }
        if operation.action == .create { return "\(verb) \(operation.entityLink) in \(other)/\(navigation)" }
        return "\(verb) \(operation.entityLink)/\(navigation) → \(other)"
    }

    static func verb(_ action: OperationStatus.Action) -> String {
        switch action {
        case .create: "create"
        case .update: "update"
        case .delete: "delete"
        case .createLink: "link"
        case .updateLink: "relink"
        case .deleteLink: "unlink"
        case .call: "call"
        }
    }

    var json: String { json(because: nil) }

    func json(because dependence: String?) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("sequence", operation.sequence)
        json.member("time", operation.time)
        json.member("action", operation.action.rawValue)
        if let name = operation.call { json.member("call", name) }
        if !operation.entityLink.isEmpty {
            json.member("entityID", operation.entity.rawValue)
            json.member("readLink", operation.entityLink)
        }
        if let navigation = operation.navigation { json.member("property", navigation) }
        if let other = operation.relatedLink { json.member("related", other) }
        json.member("state", operation.state.rawValue)
        if let transaction = operation.transactionID { json.member("transaction", transaction) }
        if let reason = operation.reason { json.member("reason", reason) }
        if operation.state != .undone {
            json.member("since", operation.since)
            if operation.attempts > 0 { json.member("attempts", operation.attempts) }
            if let time = operation.notBefore { json.member("notBefore", time) }
            json.member("next", operation.nextStep)
        }
        if let dependence { json.member("because", dependence) }
        if let refusal = operation.refusal {
            json.name("error")
            json.beginObject()
            json.member("status", refusal.status)
            json.member("code", refusal.code)
            json.member("message", refusal.message)
            json.member("request", "\(refusal.method) \(refusal.url)")
            json.endObject()
        }
        json.endObject()
        return json.text
    }

    static func summary(_ states: [OperationState]) -> String {
        let counts = [OperationState.pending, .inFlight, .inDoubt, .deferred, .rejected, .undone].map { state in
            (state, states.count { $0 == state })
        }
        return counts.filter { $0.0 == .pending || $0.1 > 0 }.map { "\($0.1) \(name($0.0))" }.joined(separator: ", ")
            + "."
    }

    private static func name(_ state: OperationState) -> String {
        switch state {
        case .pending: "pending"
        case .inFlight: "in flight"
        case .inDoubt: "in doubt"
        case .rejected: "rejected"
        case .deferred: "postponed"
        case .undone: "undone"
        }
    }
}
