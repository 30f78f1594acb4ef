package import Operations

/// The reason why an operation is undone together with a second operation.
package enum UndoDependency: Sendable, Hashable {
    /// Both belong to one change set, which is undone as a whole.
    case changeSet(with: SequenceNumber)
    /// It refers to an entity that the other operation creates.
    case entity(EntityID, createdBy: SequenceNumber)
    /// A rule forbids it after the other operations are undone.
    case forbidden(OperationRefused)
}

/// The operations of an undo: the requested ones, and those that could not have been made without them.
struct UndoScope {
    private(set) var dependants: [SequenceNumber: UndoDependency] = [:]
    private let chosen: Set<SequenceNumber>
    private var creators: [EntityID: SequenceNumber] = [:]

    init(_ chosen: Set<SequenceNumber>) { self.chosen = chosen }

    func contains(_ sequence: SequenceNumber) -> Bool { chosen.contains(sequence) || dependants[sequence] != nil }

    /// Adds the unit if it contains a member of the scope or refers to an entity that is no longer created. Returns
    /// whether it was added.
    ///
    /// The units have to be passed in order, because an operation refers only to entities that were created before it
    /// or in its own unit.
    mutating func include(_ unit: [PendingOperation]) -> Bool {
        if let member = unit.first(where: { contains($0.sequence) }) {
            add(unit, because: .changeSet(with: member.sequence))
            return true
        }
        for pending in unit {
            for entity in pending.operation.referencedEntities {
                guard let creator = creators[entity] else { continue }
                add(unit, because: .entity(entity, createdBy: creator))
                return true
            }
        }
        return false
    }

    mutating func add(_ unit: [PendingOperation], because reason: UndoDependency) {
        for pending in unit {
            if !contains(pending.sequence) { dependants[pending.sequence] = reason }
            for entity in pending.operation.createdEntities { creators[entity] = pending.sequence }
        }
    }
}

extension PendingOperation {
    /// Groups operations in order, with those of one app change set together.
    static func units(_ operations: [PendingOperation]) -> [[PendingOperation]] {
        var units: [[PendingOperation]] = []
        units.reserveCapacity(operations.count)
        for pending in operations {
            if let changeSet = pending.operation.changeSet, units.last?.last?.operation.changeSet == changeSet {
                units[units.count - 1].append(pending)
            } else {
                units.append([pending])
            }
        }
        return units
    }
}
