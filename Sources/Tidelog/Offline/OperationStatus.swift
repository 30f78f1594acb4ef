public import ODataWire
public import Operations
import SyncCore

/// The status of an operation that is unfinished or was undone: its action, its state, and the next step.
public struct OperationStatus: Sendable, Hashable {
    /// The sequence number of the operation.
    public let sequence: SequenceNumber
    /// The time of the operation, in milliseconds since 1970.
    public let time: Int64
    /// The subject of the operation.
    public let entity: EntityID
    /// The permanent link of the subject: `Customers(~7)`.
    public let entityLink: String
    /// The action of the operation.
    public let action: Action
    /// The name of the called action; `nil` for all other operations.
    public let call: String?
    /// The navigation property of a link operation, or the parent's navigation property of a create.
    public let navigation: String?
    /// The link of the entity at the other end of ``navigation``.
    public let relatedLink: String?
    /// The state of the operation.
    public let state: OperationState
    /// The time since when it is in the state, in milliseconds since 1970.
    public let since: Int64
    /// The number of consecutive postponements by the service.
    public let attempts: Int
    /// The earliest time of the next upload or, for an operation in doubt, the time at which an upload can determine
    /// that it did not take effect. In milliseconds since 1970; `nil` if there is nothing to wait for.
    public let notBefore: Int64?
    /// The next step, as a sentence without a full stop.
    public let nextStep: String
    /// The reason why it is unfinished, as a sentence without a full stop; `nil` for an operation that the next
    /// upload sends.
    public let reason: String?
    /// The response of the service to a rejected operation.
    public let refusal: Refusal?
    /// The tag that the app has set for the operation.
    public let customTag: String?
    /// The transaction of the operation.
    public let transactionID: String?

    /// The kind of change that an operation makes.
    public enum Action: String, Sendable {
        /// A change of an entity or of a link between two entities.
        case create, update, delete, createLink, updateLink, deleteLink
        /// A queued call of an action.
        case call
    }

    init(_ undone: UndoneOperation, links: [EntityID: String]) {
        let was: String? = if case .rejected(let why) = undone.operation.status { why.message } else { nil }
        self.init(
            undone.operation, state: .undone, reason: was.map { "undone after the service rejected it: \($0)" },
            next: "a redo restores it", notBefore: nil, links: links)
    }

    init(
        _ pending: PendingOperation, outlook: UploadForecast, postponed: UploadPostponed?, links: [EntityID: String]
    ) {
        let next = outlook.nextStep(of: pending)
        let notBefore = postponed?.notBefore
        switch pending.status {
        case .pending:
            self.init(
                pending, state: .pending, reason: outlook.reason(of: pending), next: next, notBefore: notBefore,
                links: links)
        case .inFlight:
            let reason =
                outlook.awaited.contains(pending.sequence)
                ? "the service accepted it and processes it asynchronously" : "sent; waits for the response"
            self.init(pending, state: .inFlight, reason: reason, next: next, notBefore: notBefore, links: links)
        case .inDoubt(_, let why):
            self.init(
                pending, state: .inDoubt, reason: why, next: next,
                notBefore: outlook.nextLooks[pending.sequence] ?? notBefore, links: links)
        case .rejected(let why):
            let reason = "the service responded with \(why.status): \(why.message)"
            self.init(pending, state: .rejected, reason: reason, next: next, notBefore: notBefore, links: links)
        case .deferred(let why, _):
            let reason = "the service responded with \(why.status): \(why.message)"
            self.init(pending, state: .deferred, reason: reason, next: next, notBefore: notBefore, links: links)
        }
    }

    private init(
        _ pending: PendingOperation, state: OperationState, reason: String?, next: String, notBefore: Int64?,
        links: [EntityID: String]
    ) {
        since = pending.since
        attempts = if case .deferred(_, let attempts) = pending.status { attempts } else { 0 }
        self.notBefore = notBefore
        nextStep = next
        sequence = pending.sequence
        time = pending.time
        entity = pending.operation.subject
        customTag = pending.operation.customTag
        transactionID = pending.operation.transactionID
        entityLink = entity == .unbound ? "" : links[entity] ?? entity.description
        call = pending.operation.call?.name
        let related = pending.operation.related
        navigation = related?.navigation
        relatedLink = related.map { links[$0.entity] ?? $0.entity.description }
        action =
            switch pending.operation.action {
            case _ where pending.operation.call != nil: .call
            case .create: .create
            case .update: .update
            case .delete: .delete
            case .createLink: .createLink
            case .updateLink: .updateLink
            case .deleteLink: .deleteLink
            }
        self.state = state
        self.reason = reason
        refusal =
            switch pending.status {
            case .rejected(let why), .deferred(let why, _): why
            case .pending, .inFlight, .inDoubt: nil
            }
    }
}

/// The state of an unfinished or undone operation.
public enum OperationState: String, Sendable {
    /// The operation waits for an upload.
    case pending
    /// A batch with the operation is sent, and there is no outcome yet.
    case inFlight
    /// The response is missing or inconclusive.
    case inDoubt
    /// The service rejected the operation.
    case rejected
    /// Rejected temporarily; sent again automatically.
    case deferred
    /// Only in the result of ``OfflineODataProvider/undoneOperations()``.
    case undone
}

extension Operation {
    /// The other entity of a link, or the parent of a create.
    fileprivate var related: (navigation: String, entity: EntityID)? {
        switch action {
        case .create(_, let parent): parent.map { ($0.navigation, $0.entity) }
        case .createLink(let link), .updateLink(let link), .deleteLink(let link): (link.navigation, link.to)
        case .update, .delete: nil
        }
    }
}

/// A request that an upload would send.
public struct PlannedBatch: Sendable, Hashable {
    /// The method: POST, unless the service does not support `$batch`.
    public let method: String
    /// The absolute URL of the request.
    public let url: String
    /// The header fields of the request.
    public let headers: HTTPHeaders
    /// The body of the request.
    public let body: [UInt8]
    /// The number of requests in each change set.
    public let changeSets: [Int]

    init(_ request: WireRequest, root: String, changeSets: [Int]) {
        method = request.method
        url = request.url.hasPrefix("http") ? request.url : root + request.url
        headers = request.headers
        body = request.body
        self.changeSets = changeSets
    }
}

/// A key that the service assigned to an entity.
public struct KeyAssignment: Sendable, Hashable {
    /// The ID of the entity in the store.
    public let entity: EntityID
    /// The name of the entity set.
    public let set: String
    /// The key, `CustomerID=5`. For a contained entity, preceded by the ID of its container: `#12(TripID=0)`.
    public let key: String
}
