import Operations
import SyncCore

/// What will happen next, as the end of a sentence that begins with the operation.
enum NextStep {
    static func text(_ status: PendingOperation.Status, held: HoldReason?) -> String {
        switch status {
        case .pending: held.map(text) ?? "the next upload sends it"
        case .inFlight: "the service's answer decides; where none comes, the next upload finds out"
        case .inDoubt:
            "the next upload finds out by reading whether it took effect; where that cannot be known it stays in doubt until "
                + "you say what became of it"
        case .rejected: "the next upload sends it once more as it is; correct it or undo it otherwise"
        case .deferred: "the next upload sends it again"
        }
    }

    private static func text(_ held: HoldReason) -> String {
        switch held {
        case .waitsFor(let other), .behindDeferred(let other):
            "the upload that gets operation \(other) through sends it"
        case .behindRejected(let other): "it goes once operation \(other) is accepted or undone"
        case .behindInDoubt(let other): "it goes once it is known what became of operation \(other)"
        case .withOperation(let other): "it goes together with operation \(other), or once that is undone"
        case .needsETag, .needsAllProperties: "the next upload reads the entity and sends it"
        case .batchFull: "the next upload sends it, in a later batch"
        case .keyUnknown: "a download may bring the key; the upload behind it sends it"
        case .entityGone, .notInMetadata, .noLegalPlan: "it stays until it is undone or the reason is gone"
        default: "it goes with a later upload, once the reason is gone"
        }
    }
}
