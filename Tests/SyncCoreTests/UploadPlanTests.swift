import Operations
import SyncCore
import Testing

/// The reasons in a plan.
struct UploadPlanTests {
    @Test(
        arguments: [
            (.inDoubt, true), (.behindInDoubt(1), true), (.behindConflict(1), true),
            (.keyUnknown(EntityID(rawValue: 1)), true),
            (.noLegalPlan("the service has no $batch"), true), (.batchFull, false),
            (.headerNeedsKey(EntityID(rawValue: 1)), true), (.needsETag(EntityID(rawValue: 1)), false),
        ] as [(HoldReason, Bool)])
    func `an operation is held back if the next batches of the upload do not end the reason`(
        _ reason: HoldReason, _ isHeldBack: Bool
    ) {
        let plan = UploadPlan(held: [2: reason, 3: .waitsFor(2), 4: .waitsFor(3), 5: .waitsFor(1)])
        for operation: SequenceNumber in [2, 3, 4] { #expect(plan.holdsBack(operation) == isHeldBack) }
        #expect(!plan.holdsBack(5), "the operation that it waits for is sent")
        #expect(!plan.holdsBack(6), "it has no reason")
    }
}
