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
///
/// Pure: the same state gives the same plan.
public struct UploadPlanner<Storage: StateStorage> {
    public struct Options: Sendable, Hashable {
        /// The most requests in one batch. A change set is never split, so one that is larger goes alone.
        public var requestLimit: Int
        /// What the service lacks.
        public var service: ServiceOptions

        public init(requestLimit: Int = 500, service: ServiceOptions = ServiceOptions()) {
            self.requestLimit = requestLimit
            self.service = service
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
        var grouping = ChangeSetGrouping(unreadable: unreadable, service: options.service)
        var forms = UnitForms(resolver: resolver, options: options.service)
        var tracker = LinkTracker(storage, model)
        var plan = UploadPlan()
        var toRead: Set<EntityID> = []
        let conflicts = try ConflictHolds(storage, model)
        let queue = try PendingOperation.units(try storage.pendingOperations()).map { unit throws(StateError) in
            PlannedUnit(
                operations: unit,
                footprints: try unit.map { pending throws(StateError) in
                    try resolver.footprint(pending.operation, &tracker)
                })
        }
        for planned in TransactionUnits.arranged(queue) {
            let (unit, footprints) = (planned.operations, planned.footprints)
            let skipped = try conflicts.reasons(in: unit).merging(
                unit.compactMap { pending in Self.reasonToSkip(pending, retrying).map { (pending.sequence, $0) } }
            ) { $1 }
            let obstacle = unit.first { skipped[$0.sequence] != nil }
            var held = obstacle.flatMap { skipped[$0.sequence] }
            if held == nil { held = try Self.missingName(in: unit, resolver) }
            if held == nil { held = try forms.obstacle(in: unit) }
            if let reason = held {
                grouping.block(footprints, by: obstacle?.sequence ?? unit[0].sequence, reason)
                for pending in unit {
                    plan.held[pending.sequence] =
                        skipped[pending.sequence] ?? obstacle.map { .withOperation($0.sequence) } ?? reason
                }
                continue
            }
            let reason = try grouping.add(unit, footprints, resolver) { new throws(StateError) in
                try forms.canRefer(to: new, from: unit)
            }
            if let reason {
                switch reason {
                case .needsETag(let entity), .needsAllProperties(let entity): toRead.insert(entity)
                default: break
                }
                for pending in unit { plan.held[pending.sequence] = reason }
            }
        }
        var encoder = RequestPlanner(resolver: resolver, options: options.service)
        var requests = 0
        for group in grouping.inOrder() {
            let (operations, carried) = forms.sendable(group)
            let changeSet = try encoder.changeSet(operations, carrying: carried)
            if requests > 0, requests + changeSet.requests.count > options.requestLimit {
                for pending in group { plan.held[pending.sequence] = .batchFull }
                requests = options.requestLimit
                continue
            }
            requests += changeSet.requests.count
            plan.changeSets.append(changeSet)
        }
        plan.entitiesToRead = toRead.sorted()
        return plan
    }

    private static func missingName(
        in unit: [PendingOperation], _ resolver: EntityResolver<Storage>
    ) throws(StateError) -> HoldReason? {
        for pending in unit {
            if let name = try resolver.missingName(in: pending.operation) { return .notInMetadata(name) }
        }
        return nil
    }

    private static func reasonToSkip(_ pending: PendingOperation, _ retrying: Set<SequenceNumber>) -> HoldReason? {
        switch pending.status {
        case .pending: nil
        case .inFlight, .inDoubt: .inDoubt
        case .rejected: retrying.contains(pending.sequence) ? nil : .rejected
        case .deferred: retrying.contains(pending.sequence) ? nil : .deferred
        }
    }
}
