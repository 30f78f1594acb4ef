public import EDM
public import ODataWire
public import Operations

/// Turns pending operations into the next batch: the smallest atomic change sets that the references between new entities
/// and the app's own change sets allow, in an order that keeps every operation behind those it depends on.
///
/// - A new entity and what refers to it share a change set, where `$<Content-ID>` stands for the key that is not known yet.
/// - Inside a change set a service may reorder (V2: "unordered group"), so operations whose order matters are never put
///   into one unless a reference orders them or the app asked for it.
/// - Operations that the app gave one transactionID share a change set as well, with those between them that cannot stay out.
/// - What cannot go yet is left to the next round, when keys and ETags are known. Nothing waits for an operation that it
///   does not depend on.
/// - The queue is walked in order until as many operations are found as a batch may have requests. What is behind that goes
///   in the next one.
///
/// Pure: the same state gives the same plan.
public struct UploadPlanner<Storage: StateReader> {
    public struct Options: Sendable, Hashable {
        /// The most requests in one batch. A change set is never split, so one that is larger goes alone.
        public var requestLimit: Int
        /// The most bytes of one batch, as the encoder writes its requests; what stands between them is reckoned at a flat
        /// rate. Nil for no limit. A change set that is larger goes alone.
        public var byteLimit: Int?
        /// Send only operations of these categories; nil for all.
        public var categories: Set<UploadCategory>?
        /// Whether operations on one entity are put together; see ``Coalescing``. Operations that mend a refused one are put
        /// together with it in any case.
        public var coalesces = false
        /// What the service lacks.
        public var service: ServiceOptions
        /// How much of the queue is looked at.
        public var reach: PlanReach
        /// How many operations are read at a time.
        package var pageSize = 256

        public init(
            requestLimit: Int = 500, service: ServiceOptions = ServiceOptions(), reach: PlanReach = .queue
        ) {
            self.requestLimit = requestLimit
            self.service = service
            self.reach = reach
        }
    }

    private let storage: Storage
    private let model: EntityDataModel
    private let options: Options

    public init(storage: Storage, model: EntityDataModel, options: Options = Options()) {
        self.storage = storage
        self.model = model
        self.options = options.resolved(for: model.version)
    }

    /// - Parameters:
    ///   - retrying: operations that are to be sent again: refused ones, and such in doubt as come to the same done twice.
    ///   - unreadable: entities that were read just now, in vain perhaps: their operations go with the ETag and the
    ///     properties as they are known, and the service says what it thinks of them.
    public func plan(
        retrying: Set<SequenceNumber> = [], unreadable: Set<EntityID> = []
    ) throws(StateError) -> UploadPlan {
        var unplannable: [SequenceNumber: HoldReason] = [:]
        while true {
            if let plan = try plan(retrying, unreadable, &unplannable) { return plan }
        }
    }

    /// Nil where there turned out to be one more for which no request can be made: it must not keep the others from going.
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
        return plan
    }
}

extension UploadPlanner.Options {
    fileprivate func resolved(for version: ODataVersion) -> Self {
        var options = self
        options.service = service.resolved(for: version)
        return options
    }

    /// What about an operation itself keeps it out of the batch.
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
        case .rejected: if pending.isUnfit || !retrying.contains(pending.sequence) { return .rejected }
        case .deferred: if !retrying.contains(pending.sequence) { return .deferred }
        }
        guard let categories else { return nil }
        return pending.operation.uploadCategory.map(categories.contains) == true ? nil : .otherCategory
    }
}
