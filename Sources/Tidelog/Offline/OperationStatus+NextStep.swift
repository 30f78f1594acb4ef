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
            ? "it cancels itself out with others, so nothing of it is sent" : held[pending.sequence]?.description
    }

    /// Returns the next step, as the end of a sentence whose subject is the operation.
    func nextStep(of pending: PendingOperation) -> String {
        if awaited.contains(pending.sequence) {
            return "the next upload asks the service for its answer, and sends what does not depend on it meanwhile"
        }
        return switch pending.status {
        case .inFlight: "the service's answer decides; where none comes, the next upload finds out"
        case .inDoubt where nextLooks[pending.sequence] != nil:
            "the next upload confirms it if it finds it at the service; otherwise an upload sends it again once the lost request "
                + "can no longer be running"
        case .inDoubt where pending.operation.call != nil:
            "the next upload repeats it if the service recognizes repeated requests; otherwise it stays in doubt until you say "
                + "what became of it"
        case .inDoubt:
            "the next upload finds out by reading whether it took effect; where that cannot be known it stays in doubt until "
                + "you say what became of it"
                + (pending.operation.createdEntities.isEmpty ? "" : ", and where the service has it")
        case .pending, .rejected, .deferred:
            if elided.contains(pending.sequence) {
                "the next upload ends it"
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
            return others.map { "the next upload sends it once more, \($0)" }
                ?? "the next upload sends it once more as it is; correct it or undo it otherwise"
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
            "the upload that gets operation \(other) through sends it"
        case .behindRejected(let other): "it goes once operation \(other) is accepted or undone"
        case .behindInDoubt(let other): "it goes once it is known what became of operation \(other)"
        case .withOperation(let other): "it goes when operation \(other) does"
        case .needsETag, .needsAllProperties: "the next upload reads the entity and sends it"
        case .batchFull: "the next upload sends it, in a later batch"
        case .keyUnknown:
            "a download may bring the key, or 'tidelog identify' tells it; the upload behind that sends it"
        case .headerNeedsKey: "the upload that gets the key sends it, or the first one behind a download that brings it"
        case .entityGone, .notInMetadata, .noLegalPlan: "it stays until it is undone or the reason is gone"
        case .conflict: "it goes once the conflict is decided, by the policy of the next upload or by resolving it"
        case .behindConflict(let other): "it goes once the conflict of operation \(other) is decided"
        case .draft: "the next upload after its release sends it"
        case .behindDraft(let other): "it goes once operation \(other) is released or undone"
        case .localOnly: "it stays here and is never sent"
        case .otherCategory: "an upload that takes its category, or all, sends it"
        case .behindOtherCategory(let other): "it goes once operation \(other) is through"
        case .rejected, .deferred: "the next upload that takes it sends it again"
        case .inDoubt: "the next upload finds out what became of it"
        }
    }
}
