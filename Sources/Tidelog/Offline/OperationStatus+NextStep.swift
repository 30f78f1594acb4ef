import Operations
import SyncCore

/// The next step of each operation in the next upload, as far as it is predictable.
struct UploadForecast {
    private let held: [SequenceNumber: HoldReason]
    /// Operations that the service processes asynchronously.
    let awaited: Set<SequenceNumber>
    /// The earliest time at which an upload can determine the outcome of operations in doubt whose lost request may
    /// still be running.
    let nextLooks: [SequenceNumber: Timestamp]
    private let elided: Set<SequenceNumber>
    /// The operations of each request that contains several.
    private let together: [SequenceNumber: [SequenceNumber]]

    /// - Parameter plan: the plan of the next upload.
    init(
        _ plan: UploadPlan, awaited: Set<SequenceNumber>, nextLooks: [SequenceNumber: Timestamp] = [:]
    ) {
        self.nextLooks = nextLooks
        held = plan.held
        self.awaited = awaited
        elided = Set(plan.elided)
        var together: [SequenceNumber: [SequenceNumber]] = [:]
        for request in plan.changeSets.flatMap(\.requests) where !request.carries.isEmpty {
            let all = ([request.operation] + request.carries).sorted()
            for operation in all { together[operation] = all.filter { $0 != operation } }
        }
        self.together = together
    }

    /// Returns the reason why the next upload does not send the operation first, or `nil` if it does.
    func reason(of pending: PendingOperation) -> String? {
        elided.contains(pending.sequence)
            ? "it and other operations cancel each other out, so it is not sent" : held[pending.sequence]?.description
    }

    /// Returns the next step, as the end of a sentence whose subject is the operation.
    func nextStep(of pending: PendingOperation) -> String {
        if awaited.contains(pending.sequence) {
            return
                "the next upload requests the response from the service, and meanwhile sends the operations that do not depend on it"
        }
        return switch pending.status {
        case .inFlight: "the response of the service determines the outcome; if it is lost, the next upload does"
        case .inDoubt where nextLooks[pending.sequence] != nil:
            "the next upload confirms it if the entity is at the service; otherwise an upload sends it again when the lost request "
                + "can no longer be running"
        case .inDoubt where pending.operation.call != nil:
            "the next upload repeats it if the service recognizes repeated requests; otherwise it stays in doubt until you say "
                + "what became of it"
        case .inDoubt:
            "the next upload reads the entity to determine whether it took effect; if that is not possible, it stays in doubt until "
                + "you settle it"
                + (pending.operation.createdEntities.isEmpty ? "" : " with the address of the entity")
        case .pending, .rejected, .deferred:
            if elided.contains(pending.sequence) {
                "the next upload completes it"
            } else if let reason = held[pending.sequence] {
                Self.text(reason)
            } else {
                sending(pending)
            }
        }
    }

    private func sending(_ pending: PendingOperation) -> String {
        let others = together[pending.sequence].map { "in one request with \(Self.names($0))" }
        switch pending.status {
        case .rejected:
            return others.map { "the next upload sends it again, \($0)" }
                ?? "the next upload sends it again unchanged; correct or undo it if the cause remains"
        case .deferred: return "the next upload sends it again" + (others.map { ", \($0)" } ?? "")
        default: return "the next upload sends it" + (others.map { ", \($0)" } ?? "")
        }
    }

    private static func names(_ operations: [SequenceNumber]) -> String {
        operations.count == 1
            ? "operation \(operations[0])" : "operations \(operations.map(String.init).joined(separator: ", "))"
    }

    private static func text(_ held: HoldReason) -> String {
        switch held {
        case .waitsFor(let other), .behindDeferred(let other):
            "the upload that completes operation \(other) sends it"
        case .behindRejected(let other): "an upload sends it after operation \(other) is confirmed or undone"
        case .behindInDoubt(let other): "an upload sends it after the outcome of operation \(other) is known"
        case .withOperation(let other): "an upload sends it together with operation \(other)"
        case .needsETag, .needsAllProperties: "the next upload reads the entity and sends it"
        case .batchFull: "the next upload sends it, in a later batch"
        case .keyUnknown:
            "a download may deliver the key, or 'tidelog identify' sets it; the next upload then sends it"
        case .headerNeedsKey:
            "the upload that receives the key sends it, or the first one after a download that delivers the key"
        case .entityGone, .notInMetadata, .noLegalPlan: "it is not sent until the cause is removed; it can be undone"
        case .conflict:
            "an upload sends it after the conflict is resolved, by the policy of the upload or with 'tidelog resolve'"
        case .behindConflict(let other): "an upload sends it after the conflict of operation \(other) is resolved"
        case .draft: "the next upload after its release sends it"
        case .behindDraft(let other): "an upload sends it after operation \(other) is released or undone"
        case .localOnly: "it is never sent"
        case .otherCategory: "an upload of its category, or of all categories, sends it"
        case .behindOtherCategory(let other): "an upload sends it after operation \(other) is confirmed"
        case .rejected, .deferred: "the next upload of its category sends it again"
        case .inDoubt: "the next upload determines the outcome"
        }
    }
}
