import EDM
import Operations

/// Coalesces several operations on one entity into one request, or into none.
///
/// - create + update → create, update + update → update, update + delete → delete
/// - create (+ updates) + delete → nothing, link + unlink → nothing
/// - rejected update or link of an entity that was deleted since → nothing
///
/// The later operation moves to the position of the earlier one. It may not pass an operation with which it does not
/// commute, so the order of all others is preserved. The following operations stay unchanged: those of app change sets
/// and transactions, unmodifiable ones, those with different headers or categories, and those that the service may
/// already have processed. Operations more than a page of the queue apart are not coalesced.
struct Coalescing {
    enum Scope: Sendable, Hashable {
        /// Only with rejected operations: later changes replace their incorrect values.
        case refused
        case everything
    }

    private let resolver: EntityResolver<WorkingSet>
    private let scope: Scope
    /// Returns whether nothing about the operation itself prevents it from being sent.
    private let isSendable: (PendingOperation) -> Bool
    private var units: [TransactionUnit?] = []
    /// The last unit that writes an entity, and the last one that reads it.
    private var writers: [EntityID: Int] = [:]
    private var readers: [EntityID: Int] = [:]
    private(set) var elided: [SequenceNumber] = []

    init(_ resolver: EntityResolver<WorkingSet>, scope: Scope, isSendable: @escaping (PendingOperation) -> Bool) {
        self.resolver = resolver
        self.scope = scope
        self.isSendable = isSendable
    }

    /// Returns the coalesced units.
    ///
    /// - Parameter given: The units, each after those that it depends on.
    mutating func coalesced(_ given: [TransactionUnit]) throws(StateError) -> [TransactionUnit] {
        guard scope == .everything || given.contains(where: { $0.operations.contains(where: \.isRejected) }) else {
            return given
        }
        for unit in given {
            if try isVoid(unit) {
                elided += unit.sequences
                continue
            }
            if try absorb(unit) { continue }
            units.append(unit)
            for footprint in unit.footprints { add(footprint, at: units.count - 1) }
        }
        return units.compactMap { $0 }
    }

    /// Returns whether the unit is a rejected change of an entity that a later operation has deleted at the service, so
    /// that it can never be sent.
    private func isVoid(_ unit: TransactionUnit) throws(StateError) -> Bool {
        guard unit.operations.count == 1, unit.operations[0].isRejected, isMergeable(unit.operations[0]) else {
            return false
        }
        switch unit.operations[0].operation.action {
        case .update(let entity, _, _): return try resolver.isDeleted(entity)
        case .createLink(let link), .updateLink(let link), .deleteLink(let link):
            if try resolver.isDeleted(link.from) { return true }
            return try resolver.isDeleted(link.to)
        case .create, .delete: return false
        }
    }

    private mutating func add(_ footprint: OperationFootprint, at place: Int) {
        for entity in footprint.writes.union(footprint.affected) { writers[entity] = place }
        for entity in footprint.reads { readers[entity] = max(readers[entity] ?? 0, place) }
    }

    /// Coalesces the unit with an earlier one, or cancels both. Returns false if the unit stays separate.
    private mutating func absorb(_ unit: TransactionUnit) throws(StateError) -> Bool {
        guard unit.operations.count == 1, unit.footprints.count == 1, isMergeable(unit.operations[0]) else {
            return false
        }
        let (later, footprint) = (unit.operations[0], unit.footprints[0])
        let entity = later.operation.subject
        guard let place = place(of: later.operation), let earlier = units[place],
            earlier.operations.count == 1, isMergeable(earlier.operations[0]),
            scope == .everything || earlier.operations[0].isRejected,
            later.operation.isAlike(earlier.operations[0].operation)
        else { return false }
        switch later.operation.action {
        case .update(entity, let changes, let bindings):
            // A reference to the entity is valid before the update as well as after it.
            guard canMove(footprint, to: place, passingReadersOf: entity) else { return false }
            var merged = earlier.operations[0].operation.action
            guard try merge(entity, changes, bindings, into: &merged) else { return false }
            carry(unit, as: merged, at: place)
            return true
        case .delete:
            guard canMove(footprint, to: place) else { return false }
            switch earlier.operations[0].operation.action {
            case .update(entity, _, let bindings) where bindings.isEmpty && earlier.footprints[0].links.isEmpty:
                carry(unit, as: later.operation.action, at: place)
                return true
            case .create(let creation, _) where creation.entity == entity:
                guard try leavesNothing(earlier, unit) else { return false }
                elide(earlier, unit, at: place)
                return true
            default: return false
            }
        case .createLink, .deleteLink:
            guard canMove(footprint, to: place), try leavesNothing(of: earlier, unit) else { return false }
            elide(earlier, unit, at: place)
            return true
        default: return false
        }
    }

    /// Returns the last unit that writes the entities of the operation.
    private func place(of operation: Operation) -> Int? {
        switch operation.action {
        case .createLink(let link), .deleteLink(let link):
            [writers[link.from], writers[link.to]].compactMap { $0 }.max()
        default: writers[operation.subject]
        }
    }

    private func isMergeable(_ pending: PendingOperation) -> Bool {
        let operation = pending.operation
        return operation.changeSet == nil && operation.transactionID == nil && !operation.isUnmodifiable
            && operation.stream == nil && operation.call == nil
            && operation.delivery == .queued && isSendable(pending) && !pending.isInDoubt
    }

    /// Returns whether an operation may move to the position of an earlier one.
    private func canMove(
        _ footprint: OperationFootprint, to place: Int, passingReadersOf passed: EntityID? = nil
    ) -> Bool {
        let writes = footprint.writes.union(footprint.affected)
        return writes.union(footprint.reads).allSatisfy { (writers[$0] ?? -1) <= place }
            && writes.allSatisfy { $0 == passed || (readers[$0] ?? -1) <= place }
    }

    private mutating func carry(_ unit: TransactionUnit, as action: Operation.Action, at place: Int) {
        guard var earlier = units[place] else { return }
        earlier.operations[0].operation.action = action
        earlier.footprints[0].formUnion(unit.footprints[0])
        earlier.carried[earlier.operations[0].sequence, default: []].append(unit.operations[0].sequence)
        units[place] = earlier
        add(unit.footprints[0], at: place)
    }

    private mutating func elide(_ earlier: TransactionUnit, _ later: TransactionUnit, at place: Int) {
        elided += earlier.sequences + later.sequences
        units[place] = nil
    }

    // MARK: Nothing left

    /// Returns whether a creation and a deletion together have no effect, and no other operation refers to the entity.
    private func leavesNothing(_ creation: TransactionUnit, _ deletion: TransactionUnit) throws(StateError) -> Bool {
        let entity = deletion.operations[0].operation.subject
        let (made, gone) = (creation.footprints[0], deletion.footprints[0])
        // If the creation displaced a partner, or the deletion cascades, they do not cancel each other out.
        guard creation.operations[0].operation.createdEntities == [entity], made.affected.isEmpty,
            gone.affected.isSubset(of: made.reads.union(made.writes)),
            let set = try resolver.storage.set(of: entity).flatMap({ resolver.model.findEntitySet($0) }),
            resolver.model.cascades(of: set).isEmpty
        else { return false }
        let own = Set(creation.sequences + deletion.sequences)
        return try resolver.storage.pendingOperations(naming: entity).allSatisfy(own.contains)
    }

    /// Returns whether two operations create and remove the same link, in either order, and no other link was
    /// displaced.
    private func leavesNothing(of earlier: TransactionUnit, _ later: TransactionUnit) throws(StateError) -> Bool {
        guard let first = LinkChange(earlier), let second = LinkChange(later), first.isRemoval != second.isRemoval,
            first.name == second.name, first.ends == second.ends
        else { return false }
        let stored = try resolver.storage.link(first.name, first: first.ends.0, second: first.ends.1)
        // Earlier pending operations on either entity may already have created or removed the link, for example by
        // property values.
        for end in [first.ends.0, first.ends.1] {
            let before = earlier.operations[0].sequence
            guard try resolver.storage.pendingOperations(naming: end).allSatisfy({ $0 >= before }) else { return false }
        }
        if first.isRemoval { return stored?.inBase == true }
        guard stored?.inBase != true else { return false }
        return earlier.footprints[0].affected.isEmpty && later.footprints[0].affected.isEmpty
    }

    private struct LinkChange {
        let name: String
        let ends: (EntityID, EntityID)
        let isRemoval: Bool

        init?(_ unit: TransactionUnit) {
            guard unit.carried.isEmpty, unit.footprints[0].links.count == 1, let link = unit.footprints[0].links.first
            else { return nil }
            switch unit.operations[0].operation.action {
            case .createLink: isRemoval = false
            case .deleteLink: isRemoval = true
            default: return nil
            }
            name = link.navigation.relationship.name
            ends = link.navigation.relationship.isForward ? (link.from, link.to) : (link.to, link.from)
        }
    }
}

// MARK: Values

extension Coalescing {
    /// Merges an update into the operation that creates or updates the entity. Returns false if their links cannot be
    /// expressed together.
    private func merge(
        _ entity: EntityID, _ changes: PropertyValues, _ bindings: [Binding], into action: inout Operation.Action
    ) throws(StateError) -> Bool {
        switch action {
        case .create(var creation, let parent):
            let isInner = creation.entity != entity
            guard
                creation.change(
                    entity, { merge(changes, bindings, into: &$0, in: isInner ? nil : parent, isInner: isInner) })
            else { return false }
            action = .create(creation, parent: parent)
            return true
        case .update(entity, var values, var bound):
            guard let name = try resolver.set(of: entity) else { return false }
            let own = try resolver.anyRow(entity).flatMap { resolver.model.findEntityType($0.type) }
            guard let type = own ?? resolver.model.findEntitySet(name)?.entityType,
                merge(changes, bindings, into: &values, &bound, of: type, fixed: [])
            else { return false }
            action = .update(entity, changes: values, bindings: bound)
            return true
        default: return false
        }
    }

    private func merge(
        _ changes: PropertyValues, _ bindings: [Binding], into creation: inout Creation, in parent: Parent?,
        isInner: Bool
    ) -> Bool {
        guard let type = resolver.model.findEntityType(creation.type) else { return false }
        // A nested creation is linked to its parent by its position.
        var fixed = Set(isInner ? type.navigationProperties.map(\.name) : creation.inline.map(\.navigation))
        if parent != nil {
            // The parent of the creation determines the link at the opposite end.
            fixed.formUnion(
                type.navigationProperties.filter { $0.navigation?.partner == parent?.navigation }.map(\.name))
        }
        return merge(changes, bindings, into: &creation.values, &creation.bindings, of: type, fixed: fixed)
    }

    /// Merges values and bindings.
    ///
    /// - Parameter fixed: Navigation properties whose targets cannot change.
    private func merge(
        _ changes: PropertyValues, _ bindings: [Binding], into values: inout PropertyValues, _ bound: inout [Binding],
        of type: EntityType, fixed: Set<String>
    ) -> Bool {
        for property in type.navigationProperties {
            let pairs = property.navigation?.constraints ?? []
            let named = pairs.filter { changes[$0.dependent] != nil }
            let new = bindings.filter { $0.navigation == property.name }
            guard !named.isEmpty || !new.isEmpty else { continue }
            guard !fixed.contains(property.name) else { return false }
            let old = bound.first { $0.navigation == property.name }
            if old != nil, !property.isCollection {
                // A part of the principal's key may be in the binding only.
                guard !new.isEmpty || named.count == pairs.count else { return false }
                bound.removeAll { $0.navigation == property.name }
            }
            if !new.isEmpty {
                for pair in pairs where changes[pair.dependent] == nil { values[pair.dependent] = nil }
            }
        }
        values.merge(changes)
        for binding in bindings {
            if let index = bound.firstIndex(where: { $0.navigation == binding.navigation }) {
                bound[index].targets += binding.targets.filter { !bound[index].targets.contains($0) }
            } else {
                bound.append(binding)
            }
        }
        return true
    }
}

extension Creation {
    /// Changes the creation of an entity, at any level. Returns false if the entity is not created here.
    fileprivate mutating func change(_ id: EntityID, _ body: (inout Creation) -> Bool) -> Bool {
        if entity == id { return body(&self) }
        for level in inline.indices {
            for index in inline[level].entities.indices
            where inline[level].entities[index].find(id) != nil {
                return inline[level].entities[index].change(id, body)
            }
        }
        return false
    }
}

extension Operation {
    /// Returns whether one request can represent both operations: the headers and the category have to be equal.
    fileprivate func isAlike(_ other: Operation) -> Bool {
        headers == other.headers && headerTemplates == other.headerTemplates && uploadCategory == other.uploadCategory
    }
}

extension PendingOperation {
    fileprivate var isRejected: Bool { status.kind == .rejected }
    fileprivate var isInDoubt: Bool { status.kind == .inDoubt }
}
