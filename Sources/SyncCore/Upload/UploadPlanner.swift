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
public struct UploadPlanner<Storage: StateStorage> {
    public struct Options: Sendable, Hashable {
        /// The most requests in one batch. A change set is never split, so one that is larger goes alone.
        public var requestLimit: Int
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
        self.options = options
    }

    /// - Parameters:
    ///   - retrying: refused operations that are to be sent again.
    ///   - unreadable: entities that were read just now, in vain perhaps: their operations go with the ETag and the
    ///     properties as they are known, and the service says what it thinks of them.
    public func plan(
        retrying: Set<SequenceNumber> = [], unreadable: Set<EntityID> = []
    ) throws(StateError) -> UploadPlan {
        let resolver = EntityResolver(storage: storage, model: model)
        var walk = QueueWalk(resolver, pageSize: options.pageSize)
        var draft = try BatchDraft(resolver: resolver, options: options, unreadable: unreadable)
        while !draft.isFull || options.reach == .queue, let unit = try walk.next() {
            try draft.add(unit, retrying: retrying)
        }
        return try draft.plan()
    }
}
