import EDM
import ODataWire
import Operations

/// The next batch during the traversal of the queue.
struct BatchDraft {
    private let resolver: EntityResolver<WorkingSet>
    private let options: UploadPlanner.Options
    private var grouping: ChangeSetGrouping
    private var forms: UnitRewriteCache
    private var conflicts: ConflictHoldCache<WorkingSet>
    private var held: [SequenceNumber: HoldReason] = [:]
    private var toRead: Set<EntityID> = []
    /// The operations that were coalesced into other operations, by the latter.
    private var coalesced: [SequenceNumber: [SequenceNumber]] = [:]
    /// Entities that are created with a stream.
    private var streamed: Set<EntityID> = []
    private var placed = 0
    /// The number of operations skipped since the last one that was added.
    private var passed = 0

    init(
        resolver: EntityResolver<WorkingSet>, options: UploadPlanner.Options, unreadable: Set<EntityID>
    ) throws(StateError) {
        self.resolver = resolver
        self.options = options
        grouping = ChangeSetGrouping(
            unreadable: unreadable, service: options.service,
            goesOnBehindRefused: resolver.model.version.isLegacy && options.service.supportsBatch)
        conflicts = try ConflictHoldCache(resolver.storage, resolver.model)
        forms = UnitRewriteCache(resolver: resolver, options: options.service)
    }

    /// Whether the traversal can stop.
    ///
    /// Required reads count too, because they precede the batch. A long stretch of held operations, such as many on one
    /// entity, also ends the traversal.
    var isFull: Bool {
        placed + toRead.count >= options.requestLimit
            || (placed + toRead.count > 0 && passed >= 8 * options.requestLimit)
    }

    /// Adds a unit to the batch, or holds its operations.
    ///
    /// - Parameter unplannable: Operations for which no request can be made, with the reasons.
    mutating func add(
        _ unit: TransactionUnit, retrying: Set<SequenceNumber>, unplannable: [SequenceNumber: HoldReason] = [:]
    ) throws(StateError) {
        let (operations, footprints) = (unit.operations, unit.footprints)
        // Local-only operations block no other operation.
        if operations.allSatisfy({ $0.operation.delivery == .localOnly }) {
            for sequence in unit.sequences { held[sequence] = .localOnly }
            return
        }
        var skipped = try reasonsToSkip(operations, retrying)
        if !unplannable.isEmpty {
            for pending in operations {
                if let reason = unplannable[pending.sequence] { skipped[pending.sequence] = reason }
            }
        }
        let obstacle = skipped.isEmpty ? nil : operations.first { skipped[$0.sequence] != nil }
        var reason = obstacle.flatMap { skipped[$0.sequence] }
        if reason == nil { reason = try Self.missingName(in: operations, resolver) }
        if reason == nil { reason = try resolver.missingHeaderKey(in: operations) }
        if reason == nil { reason = try forms.obstacle(in: operations) }
        if let reason {
            grouping.block(footprints, by: obstacle?.sequence ?? operations[0].sequence, reason)
            for pending in operations {
                held[pending.sequence] =
                    skipped[pending.sequence] ?? obstacle.map { .withOperation($0.sequence) } ?? reason
            }
            for sequence in unit.carried.values.joined() { held[sequence] = reason }
            passed += operations.count
            return
        }
        let isFull = isFull
        if isFull {
            reason = try grouping.leaveOut(operations, footprints, resolver)
        } else {
            let writesStream = operations.contains { $0.operation.stream != nil }
            if writesStream {
                for pending in operations where pending.operation.stream != nil {
                    streamed.formUnion(pending.operation.createdEntities)
                }
            }
            reason = try grouping.add(operations, footprints, resolver) { new throws(StateError) in
                // A stream write is not part of a change set, so no operation of a change set can refer to its
                // entity, and vice versa.
                if writesStream || new.contains(where: streamed.contains) { return false }
                return try forms.canRefer(to: new, from: operations)
            }
        }
        guard let reason else {
            placed += operations.count
            passed = 0
            if !unit.carried.isEmpty { coalesced.merge(unit.carried) { $0 + $1 } }
            return
        }
        passed += operations.count
        for sequence in unit.sequences { held[sequence] = reason }
        guard !isFull else { return }
        switch reason {
        case .needsETag(let entity), .needsAllProperties(let entity): toRead.insert(entity)
        default: break
        }
    }

    /// Returns the plan of the batch.
    ///
    /// - Parameter unplannable: Receives the operations for which no request can be made, with the reasons.
    /// - Returns: Nil if there are any; then the operations after them have to be placed again.
    consuming func plan(
        _ unplannable: inout [SequenceNumber: HoldReason]
    ) throws(StateError) -> UploadPlan? {
        var plan = UploadPlan(held: held, entitiesToRead: toRead.sorted())
        var encoder = RequestPlanner(resolver: resolver, options: options.service)
        var size = try BatchSize(
            resolver: resolver, requestLimit: options.requestLimit, byteLimit: options.byteLimit,
            service: options.service)
        for group in grouping.inOrder() {
            let form = forms.sendable(group)
            let changeSet: PlannedChangeSet
            do throws(StateError) {
                changeSet = try encoder.changeSet(
                    form.operations, carrying: form.carried.adding(coalesced, to: form.operations),
                    references: form.references)
            } catch {
                guard error.code == .unsendable else { throw error }
                for pending in group { unplannable[pending.sequence] = .noLegalPlan(error.message) }
                return nil
            }
            guard size.takes(changeSet) else {
                for pending in group {
                    for sequence in [pending.sequence] + (coalesced[pending.sequence] ?? []) {
                        plan.held[sequence] = .batchFull
                    }
                }
                continue
            }
            plan.changeSets.append(changeSet)
        }
        return plan
    }

    private static func missingName(
        in unit: [PendingOperation], _ resolver: EntityResolver<WorkingSet>
    ) throws(StateError) -> HoldReason? {
        for pending in unit {
            if let name = try resolver.missingName(in: pending.operation) { return .notInMetadata(name) }
        }
        return nil
    }

    private mutating func reasonsToSkip(
        _ unit: [PendingOperation], _ retrying: Set<SequenceNumber>
    ) throws(StateError) -> [SequenceNumber: HoldReason] {
        var reasons = try conflicts.reasons(in: unit)
        for pending in unit {
            if let reason = options.reasonToSkip(pending, retrying) { reasons[pending.sequence] = reason }
        }
        return reasons
    }
}

extension [SequenceNumber: [SequenceNumber]] {
    /// Returns the operations that each sent operation carries: those that its form carries, and those coalesced with
    /// any of them.
    func adding(_ coalesced: Self, to operations: [PendingOperation]) -> Self {
        guard !coalesced.isEmpty else { return self }
        var all = self
        for pending in operations {
            let own = self[pending.sequence] ?? []
            all[pending.sequence] = own + ([pending.sequence] + own).flatMap { coalesced[$0] ?? [] }
        }
        return all
    }
}
