package import EDM
package import ODataWire
package import Operations

/// Plans the next batch: the smallest atomic change sets that the references between new entities and the app's own
/// change sets allow, in an order that respects all dependencies.
///
/// - A new entity and the operations that refer to it share a change set, in which `$<Content-ID>` replaces the unknown
///   key.
/// - A service may reorder a change set (V2: "unordered group"). Operations whose order matters are therefore never put
///   into the same change set, unless a reference orders them or the app requested it.
/// - Operations with the same transactionID share a change set too, with the operations between them that cannot be
///   separated.
/// - Operations that cannot be sent yet wait for the next round, when keys and ETags are known. No operation waits for
///   one that it does not depend on.
/// - The queue is read in order until as many operations are found as a batch may have requests. Later operations are
///   part of the next batch.
///
/// It is pure: the same state always gives the same plan.
package struct UploadPlanner {
    package struct Options: Sendable, Hashable {
        /// The largest number of requests in a batch. A change set is never split, so a larger one is sent alone.
        package var requestLimit: Int
        /// The approximate largest size of a batch in bytes, or nil for no limit. The encoded requests are measured;
        /// the framing is estimated at a flat rate. A larger change set is sent alone.
        package var byteLimit: Int?
        /// The categories of operations to send, or nil for all.
        package var categories: Set<UploadCategory>?
        /// Whether operations on the same entity are coalesced; see ``Coalescing``. Operations that amend a rejected
        /// one are always coalesced with it.
        package var coalesces = false
        /// The service's capabilities.
        package var service: ServiceOptions
        /// The part of the queue that is examined.
        package var reach: PlanScope
        /// The number of operations that are read at a time.
        package var pageSize = 256

        package init(
            requestLimit: Int = 500, service: ServiceOptions = ServiceOptions(), reach: PlanScope = .queue
        ) {
            self.requestLimit = requestLimit
            self.service = service
            self.reach = reach
        }
    }

    private let storage: WorkingSet
    private let model: EntityDataModel
    private let options: Options

    package init(storage: WorkingSet, model: EntityDataModel, options: Options = Options()) {
        self.storage = storage
        self.model = model
        self.options = options.resolved(for: model.version)
    }

    /// Returns the plan of the next batch.
    ///
    /// - Parameters:
    ///   - retrying: Operations to send again: rejected ones, and idempotent ones in doubt.
    ///   - unreadable: Entities that were just read, possibly without success. Their operations are sent with the known
    ///     ETag and properties, and the service decides.
    /// - Complexity: Depends on the batch, or with ``PlanScope/queue`` on the queue.
    package func plan(
        retrying: Set<SequenceNumber> = [], unreadable: Set<EntityID> = []
    ) throws(StateError) -> UploadPlan {
        var unplannable: [SequenceNumber: HoldReason] = [:]
        while true {
            if let plan = try plan(retrying, unreadable, &unplannable) { return plan }
        }
    }

    /// Returns nil if one more operation turned out to have no possible request. It must not prevent the others from
    /// being sent.
    private func plan(
        _ retrying: Set<SequenceNumber>, _ unreadable: Set<EntityID>, _ unplannable: inout [SequenceNumber: HoldReason]
    ) throws(StateError) -> UploadPlan? {
        let resolver = EntityResolver(remembering: storage, model: model)
        let (options, known) = (options, unplannable)
        let coalescing = Coalescing(resolver, scope: options.coalesces ? .everything : .refused) {
            options.reasonToSkip($0, retrying) == nil && known[$0.sequence] == nil
        }
        var walk = QueueWalk(
            resolver, pageSize: options.coalesces ? max(options.pageSize, 2 * options.requestLimit) : options.pageSize,
            coalescing: coalescing)
        var draft = try BatchDraft(resolver: resolver, options: options, unreadable: unreadable)
        while !draft.isFull || options.reach == .queue, let unit = try walk.next() {
            try draft.add(unit, retrying: retrying, unplannable: known)
        }
        var plan = try draft.plan(&unplannable)
        plan?.elided = walk.elided
        plan?.coalesces = options.coalesces
        return plan
    }
}

extension UploadPlanner.Options {
    fileprivate func resolved(for version: ODataVersion) -> Self {
        var options = self
        options.service = service.resolved(for: version)
        return options
    }

    /// Returns the reason that the operation itself has for not being in the batch.
    func reasonToSkip(_ pending: PendingOperation, _ retrying: Set<SequenceNumber>) -> HoldReason? {
        switch pending.operation.delivery {
        case .queued: break
        case .draft: return .draft
        case .localOnly: return .localOnly
        }
        switch pending.status {
        case .pending: break
        case .inFlight: return .inDoubt
        case .inDoubt: if !retrying.contains(pending.sequence) { return .inDoubt }
        case .rejected: if pending.isIncompatible || !retrying.contains(pending.sequence) { return .rejected }
        case .deferred: if !retrying.contains(pending.sequence) { return .deferred }
        }
        guard let categories else { return nil }
        return pending.operation.uploadCategory.map(categories.contains) == true ? nil : .otherCategory
    }
}
