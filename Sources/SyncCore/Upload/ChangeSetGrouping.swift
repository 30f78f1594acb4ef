import EDM
import ODataWire
import Operations

/// Combines units (single operations, or the app's change sets) into atomic groups, and orders the groups.
struct ChangeSetGrouping {
    private struct Group {
        var operations: [PendingOperation]
        /// The later group that the group was merged into, if it was.
        var successor: Int?
        /// Whether a later group depends on it, so that it must not move.
        var hasDependents = false
    }

    /// The last operation that writes an entity, and its group.
    private struct Writer {
        let sequence: SequenceNumber
        let group: Int
        let isCreation: Bool
    }

    private struct Block {
        let sequence: SequenceNumber
        let reason: HoldReason
    }

    private let unreadable: Set<EntityID>
    /// The groups by their positions in the plan.
    private var groups: [Group] = []
    private var writers = IDTable<Writer>()
    /// The groups that read an entity after it was written last.
    private(set) var readers = IDTable<SmallSet<Int>>()
    private var blockedWrites: [EntityID: Block] = [:]
    private var blockedReads: [EntityID: Block] = [:]
    private var blockedCreations: [EntityID: Block] = [:]

    private let service: ServiceOptions
    /// Whether the service continues with the batch after a change set that it rejects.
    private let goesOnBehindRefused: Bool
    /// The facets that operations of this round set, with the last such operation. Only used if the service continues
    /// after a rejection.
    private var said: [OperationFootprint.Facet: SequenceNumber] = [:]

    init(
        unreadable: Set<EntityID> = [], service: ServiceOptions = ServiceOptions(), goesOnBehindRefused: Bool = false
    ) {
        self.unreadable = unreadable
        self.service = service
        self.goesOnBehindRefused = goesOnBehindRefused
    }

    /// Returns the groups in their required order, each with its operations in order.
    func inOrder() -> [[PendingOperation]] {
        groups.filter { $0.successor == nil }.map { group in
            let operations = group.operations
            let isSorted = operations.indices.dropFirst().allSatisfy {
                operations[$0 - 1].sequence < operations[$0].sequence
            }
            return isSorted ? operations : operations.sorted { $0.sequence < $1.sequence }
        }
    }

    /// Removes operations from this round. Operations that depend on them are held too.
    mutating func block(_ footprints: [OperationFootprint], by sequence: SequenceNumber, _ reason: HoldReason) {
        let block = Block(sequence: sequence, reason: reason)
        for footprint in footprints {
            for entity in footprint.created { blockedCreations[entity] = block }
            for entity in footprint.writes { blockedWrites[entity] = block }
            guard !reason.isFinal else { continue }
            for entity in footprint.reads { blockedReads[entity] = block }
            for entity in footprint.affected { blockedWrites[entity] = block }
        }
    }

    /// Adds a unit to a group, or blocks it and returns the reason why it has to wait.
    ///
    /// - Parameter canRefer: Returns whether the service allows the unit to refer to these entities in the change set
    ///   that creates them.
    mutating func add(
        _ unit: [PendingOperation], _ footprints: [OperationFootprint], _ resolver: EntityResolver<WorkingSet>,
        canRefer: (EntityIDs) throws(StateError) -> Bool
    ) throws(StateError) -> HoldReason? {
        if let reason = try place(unit, footprints, resolver, canRefer) {
            block(footprints, by: unit[0].sequence, reason)
            return reason
        }
        return nil
    }

    /// Returns the reason why the unit is not part of a batch that is already full.
    mutating func leaveOut(
        _ unit: [PendingOperation], _ footprints: [OperationFootprint], _ resolver: EntityResolver<WorkingSet>
    ) throws(StateError) -> HoldReason {
        var needs = UnitDependencies(unit, footprints)
        var reason = blocked(needs)
        if reason == nil { reason = try obstacle(unit, &needs, resolver) }
        block(footprints, by: unit[0].sequence, reason ?? .batchFull)
        return reason ?? .batchFull
    }

    /// Determines which referenced entities the service has and which this round creates. Returns the obstacle, if
    /// there is one.
    private func obstacle(
        _ unit: [PendingOperation], _ needs: inout UnitDependencies, _ resolver: EntityResolver<WorkingSet>
    ) throws(StateError) -> HoldReason? {
        var named: Set<EntityID> = []
        if resolver.namesEntities(service) {
            for pending in unit { named.formUnion(try resolver.namedEntities(pending.operation, service)) }
        }
        for entity in needs.referenced {
            if let known = try resolver.sharedServiceRow(entity) {
                if try resolver.reference(to: entity) == nil { return .keyUnknown(entity) }
                if try resolver.lacksStreamETag(entity, for: unit), !unreadable.contains(entity) {
                    return .needsETag(entity)
                }
                let isStale = known.row.origin == .serviceWithStaleETag
                let hasETag = known.row.etag != nil
                guard needs.conditional.contains(entity), hasETag || isStale || !service.supportsPatch else { continue }
                // The response to the earlier request contains the ETag that this one has to send. A PUT also
                // repeats the earlier values of the entity, if they were accepted.
                if let earlier = writers[entity] { return .waitsFor(earlier.sequence) }
                // A new link may change the ETag of either end (OData 4.01 Part 1, 8.3.1).
                if hasETag || isStale, let earlier = linker(of: entity) { return .waitsFor(earlier) }
                if unreadable.contains(entity) { continue }
                if isStale { return .needsETag(entity) }
                if !service.supportsPatch, unit.contains(where: { $0.isUpdate(of: entity) }) {
                    if let obstacle = resolver.obstacleToReplacement(known.row) { return .noLegalPlan(obstacle) }
                    if resolver.lacksProperties(known.row) { return .needsAllProperties(entity) }
                }
            } else if let creator = writers[entity] {
                // A new entity is changed, deleted or referenced by value under its real key, in the next round.
                if needs.keyed.contains(entity) || named.contains(entity) { return .waitsFor(creator.sequence) }
                needs.newReferences.insert(entity)
            } else {
                return .entityGone(entity)
            }
        }
        return nil
    }

    /// Returns the first operation that links the entity without writing it otherwise.
    private func linker(of entity: EntityID) -> SequenceNumber? {
        guard let place = readers.place(of: entity) else { return nil }
        var first: SequenceNumber?
        for reader in readers[at: place].elements {
            for pending in groups[resolve(reader)].operations { first = min(first ?? .max, pending.sequence) }
        }
        return first
    }

    private mutating func place(
        _ unit: [PendingOperation], _ footprints: [OperationFootprint], _ resolver: EntityResolver<WorkingSet>,
        _ canRefer: (EntityIDs) throws(StateError) -> Bool
    ) throws(StateError) -> HoldReason? {
        var needs = UnitDependencies(unit, footprints)
        if let reason = blocked(needs) { return reason }
        if let reason = try obstacle(unit, &needs, resolver) { return reason }
        let facets = goesOnBehindRefused ? footprints.map(\.facets) : []
        // If the earlier operation is refused and the later one accepted, sending the earlier one again would
        // overwrite the later one.
        for facet in facets.joined() { if let earlier = said[facet] { return .waitsFor(earlier) } }
        if !needs.newReferences.isEmpty, try !canRefer(needs.newReferences) {
            let creators = needs.newReferences.compactMap { writers[$0]?.sequence }
            return .waitsFor(creators.max() ?? unit[0].sequence)
        }
        var joined = SmallSet<Int>()
        for entity in needs.newReferences { if let writer = writers[entity] { joined.insert(resolve(writer.group)) } }
        /// May contain a group more than once.
        var predecessors: [Int] = []
        // In order, so that the same state always leads to the same reason.
        for entity in needs.reads.union(needs.writes).union(needs.affected) {
            guard let writer = writers[entity] else { continue }
            let group = resolve(writer.group)
            if joined.contains(group) {
                // Only a reference defines an order within a change set; a second write of the same entity does not.
                if !writer.isCreation { return .waitsFor(writer.sequence) }
            } else {
                predecessors.append(group)
            }
        }
        for entity in needs.writes.union(needs.affected) {
            for reader in readers[entity]?.elements ?? [] { predecessors.append(resolve(reader)) }
        }
        if !joined.isEmpty { predecessors.removeAll { joined.contains($0) } }
        guard let group = join(unit, joined.sorted, after: predecessors) else {
            let last = joined.elements.compactMap { groups[$0].operations.last?.sequence }.max()
            return .waitsFor(last ?? unit[0].sequence)
        }
        for (facets, place) in zip(facets, unit.indices) { for facet in facets { said[facet] = unit[place].sequence } }
        for predecessor in predecessors { groups[predecessor].hasDependents = true }
        // The footprints are not copied.
        for (footprint, place) in zip(footprints.indices, unit.indices) {
            let sequence = unit[place].sequence
            for entity in footprints[footprint].reads { addReader(group, of: entity) }
            for entity in footprints[footprint].affected {
                if writers[entity]?.isCreation == true {
                    // A new entity keeps its creation as writer, because references depend on it. Later writers are
                    // ordered after it anyway.
                    addReader(group, of: entity)
                } else {
                    writers.updateValue(
                        Writer(sequence: sequence, group: group, isCreation: false), for: entity)
                }
            }
            for entity in footprints[footprint].writes {
                readers.removeValue(for: entity)
                writers.updateValue(
                    Writer(
                        sequence: sequence, group: group,
                        isCreation: footprints[footprint].created.contains(entity)),
                    for: entity)
            }
        }
        return nil
    }

    private mutating func addReader(_ group: Int, of entity: EntityID) {
        readers[at: readers.place(of: entity, inserting: SmallSet())].insert(group)
    }

    private func firstBlock(of needs: UnitDependencies) -> Block? {
        if blockedWrites.isEmpty, blockedReads.isEmpty, blockedCreations.isEmpty { return nil }
        let writes = needs.writes.union(needs.affected)
        for entity in writes { if let block = blockedWrites[entity] ?? blockedReads[entity] { return block } }
        for entity in needs.reads { if let block = blockedCreations[entity] { return block } }
        for entity in writes { if let block = blockedCreations[entity] { return block } }
        // A refused order does not block its customer, nor a refused change of a customer its orders.
        for entity in needs.reads {
            if let block = blockedWrites[entity], !block.reason.isFinal { return block }
        }
        return nil
    }

    private func blocked(_ needs: UnitDependencies) -> HoldReason? {
        guard let block = firstBlock(of: needs) else { return nil }
        switch block.reason {
        case .rejected, .behindRejected: return .behindRejected(block.sequence)
        case .deferred, .behindDeferred: return .behindDeferred(block.sequence)
        case .inDoubt, .behindInDoubt: return .behindInDoubt(block.sequence)
        case .otherCategory, .behindOtherCategory: return .behindOtherCategory(block.sequence)
        case .draft, .behindDraft: return .behindDraft(block.sequence)
        case .batchFull: return .batchFull
        case .conflict, .behindConflict: return .behindConflict(block.sequence)
        default: return .waitsFor(block.sequence)
        }
    }

    private func resolve(_ group: Int) -> Int {
        var current = group
        while let next = groups[current].successor { current = next }
        return current
    }

    /// Adds the unit to one group with `joined`. Returns nil if that would violate an order that is already fixed.
    ///
    /// - Parameter joined: The groups in ascending order, so that the same state always leads to the same order and the
    ///   same reasons.
    private mutating func join(_ unit: [PendingOperation], _ joined: [Int], after predecessors: [Int]) -> Int? {
        let position = groups.count
        if joined.isEmpty {
            groups.append(Group(operations: unit))
            return position
        }
        if joined.count == 1, let only = joined.first, predecessors.allSatisfy({ $0 < only }) {
            groups[only].operations += unit
            return only
        }
        guard joined.allSatisfy({ !groups[$0].hasDependents }) else { return nil }
        var operations = unit
        for old in joined {
            operations += groups[old].operations
            groups[old] = Group(operations: [], successor: position)
        }
        groups.append(Group(operations: operations))
        return position
    }
}

/// The entities that a unit as a whole reads, writes and refers to.
private struct UnitDependencies {
    private(set) var reads = EntityIDs()
    private(set) var writes = EntityIDs()
    private(set) var affected = EntityIDs()
    /// Entities that another operation of this round creates.
    var newReferences = EntityIDs()
    let referenced: [EntityID]
    let conditional: EntityIDs
    let keyed: EntityIDs

    init(_ unit: [PendingOperation], _ footprints: [OperationFootprint]) {
        var created = EntityIDs()
        var conditional = EntityIDs()
        var keyed = EntityIDs()
        for place in footprints.indices {
            created.formUnion(footprints[place].created)
            conditional.formUnion(footprints[place].conditional)
            keyed.formUnion(footprints[place].keyed)
            affected.formUnion(footprints[place].affected)
            reads.formUnion(footprints[place].reads)
            writes.formUnion(footprints[place].writes)
        }
        var referenced =
            unit.count == 1 ? unit[0].operation.referencedEntities : unit.flatMap(\.operation.referencedEntities)
        if !created.isEmpty { referenced.removeAll { created.contains($0) } }
        self.referenced = referenced
        conditional.subtract(created)
        keyed.subtract(created)
        affected.subtract(created)
        (self.conditional, self.keyed) = (conditional, keyed)
    }
}

extension PendingOperation {
    fileprivate func isUpdate(of entity: EntityID) -> Bool {
        if case .update(entity, _, _) = operation.action { true } else { false }
    }
}
