import EDM
import ODataWire
import Operations
import SyncCore
import Views

/// The planning of batches on the current state of a store.
struct UploadPlans {
    let core: StoreCore

    /// Returns the plan of the next batch without logging anything.
    ///
    /// - Parameters:
    ///   - retrying: Rejected operations to send again.
    ///   - unreadable: Entities that were just read. Operations do not wait for values of them that are still unknown.
    ///   - service: The service capabilities, or nil for those of the store.
    ///   - upload: The operations to send, and the limits of a batch.
    ///   - reach: Whether the plan contains a reason for every held operation, which requires a pass over the queue.
    func plan(
        retrying: Set<SequenceNumber> = [], unreadable: Set<EntityID> = [], service: ServiceOptions? = nil,
        upload: UploadOptions = UploadOptions(), reach: PlanScope = .queue
    ) throws(TidelogError) -> UploadPlan {
        let model = try core.model
        let given = try core.serviceOptions
        var options = UploadPlanner.Options(
            requestLimit: upload.requestLimit, service: service ?? given, reach: reach)
        options.byteLimit = upload.byteLimit
        options.categories = upload.categories
        options.coalesces = upload.coalesces
        let plan = { () throws(TidelogError) -> UploadPlan in
            try core.read { state throws -> UploadPlan in
                try core.views.reading {
                    try UploadPlanner(storage: state, model: model, options: options).plan(
                        retrying: retrying, unreadable: unreadable)
                }
            }
        }
        let planned = try plan()
        return try core.remakeViews(ifUnlogged: planned.changeSets.flatMap(\.operations)) ? try plan() : planned
    }
}
