import EDM
import Operations
import SyncCore

/// Determines which operations an undo or a redo includes, and whether it is permitted.
struct UndoPlanner {
    let state: WorkingSet
    /// Nil before metadata are installed.
    let model: EntityDataModel?
    let serviceRoot: String?

    init(in core: StoreCore) throws(StateError) {
        state = core.state
        model = core.fold.model
        serviceRoot = try core.state.header().service?.root
    }

    /// Returns the operations that an undo of the target would undo, with those that depend on it.
    func report(on target: UndoTarget, _ fold: inout Fold) throws -> UndoReport {
        var report = UndoReport()
        if case .operations(let operations) = target {
            for operation in operations { try checkUndoable(operation, try state.pendingOperation(operation)) }
            if try operations.allSatisfy({ try isOnlyValues($0, fold.index) }) {
                report.undone = Set(operations).sorted()
                return report
            }
        }
        let pending = try state.pendingOperations()
        let chosen: Set<SequenceNumber>
        switch target {
        case .operations(let operations): chosen = Set(operations)
        case .entities(let addresses):
            guard let model else { throw TidelogError(.noStore, "The store does not contain metadata yet.") }
            let resolver = AddressResolver(state: state, model: model, root: serviceRoot)
            let entities = Set(try addresses.map { try resolver.entity($0) })
            let about = pending.filter { $0.operation.isAbout(entities) }
            chosen = Set(about.filter(\.isUndoable).map(\.sequence))
            report.left = about.filter { !$0.isUndoable }.map(\.sequence)
        case .everything:
            chosen = Set(pending.filter(\.isUndoable).map(\.sequence))
            report.left = pending.filter { !$0.isUndoable }.map(\.sequence)
        }
        guard !chosen.isEmpty else { return report }
        let dependants = try fold.dependants(of: chosen)
        for pending in pending where dependants[pending.sequence] != nil {
            let reason = try dependants[pending.sequence].map { try sentence($0) }
            guard pending.isUndoable else { throw Self.isAtService(pending.sequence, reason) }
        }
        report.undone = chosen.union(dependants.keys).sorted()
        report.dependants = try dependants.sorted { $0.key < $1.key }.map {
            .init(operation: $0.key, reason: try sentence($0.value))
        }
        return report
    }

    /// Returns whether the operation only sets values that no rule examines, so that no operation can depend on it.
    /// This avoids a pass over the queue.
    private func isOnlyValues(_ operation: SequenceNumber, _ index: RelationshipIndex?) throws -> Bool {
        guard let pending = try state.pendingOperation(operation)?.operation, pending.changeSet == nil,
            case .update(let entity, let changes, let bindings) = pending.action, bindings.isEmpty,
            let index, let set = try state.set(of: entity), let row = try state.row(entity),
            let type = model?.findEntityType(row.type)
        else { return false }
        var looked = Set(type.keyProperties.map(\.name))
        for constraint in index.constraints(ofDependentsIn: set) { looked.formUnion(constraint.pairs.map(\.dependent)) }
        for constraint in index.constraints(ofPrincipalsIn: set) { looked.formUnion(constraint.pairs.map(\.principal)) }
        return looked.isDisjoint(with: changes.names)
    }

    private func checkUndoable(_ operation: SequenceNumber, _ pending: PendingOperation?) throws {
        if let pending {
            guard pending.isUndoable else { throw Self.isAtService(operation, nil) }
            return
        }
        if try state.bookkeeping.undoneOperation(operation) != nil {
            throw OperationRefused(.notUndoable, "Operation \(operation) is already undone.")
        }
        throw OperationRefused(
            .notUndoable, "Operation \(operation) is not pending: the service confirmed it, or it does not exist.",
            recovery: "Change the entity with another operation.")
    }

    private func sentence(_ dependence: UndoDependency) throws -> String {
        switch dependence {
        case .changeSet(let sequence): return "in one change set with operation \(sequence)"
        case .entity(let id, let sequence):
            return "needs \(try state.set(of: id) ?? "")(\(id)), which operation \(sequence) creates"
        case .forbidden(let refused):
            return refused.message.hasSuffix(".") ? String(refused.message.dropLast()) : refused.message
        }
    }

    private static func isAtService(_ operation: SequenceNumber, _ why: String?) -> OperationRefused {
        let depends = why.map { " It would also be undone: \($0)." } ?? ""
        return OperationRefused(
            .notUndoable,
            "Operation \(operation) was sent and its outcome is not known yet, so it cannot be undone.\(depends)",
            recovery: "Upload to determine the outcome; if it remains in doubt, set the outcome with 'tidelog settle'.")
    }

    static func hasDependants(_ report: UndoReport) -> OperationRefused {
        let names = report.dependants.prefix(5).map { "\($0.operation) (\($0.reason))" }.joined(separator: ", ")
        let more = report.dependants.count - 5
        return OperationRefused(
            .hasDependants,
            "Other operations would also be undone: \(names)\(more > 0 ? " and \(more) more" : "").",
            recovery: "Undo these operations first, or allow that they are undone too.")
    }

    // MARK: Redo

    /// Returns the undone operations with these numbers, and those of their change sets.
    ///
    /// - Throws: ``OperationRefused`` if the state would violate a rule.
    func redoable(_ operations: [SequenceNumber], _ fold: inout Fold) throws -> [UndoneOperation] {
        let undone = try undone(operations)
        if !undone.isEmpty, let refusal = try fold.refusal(ofRedoing: undone) { throw try refused(refusal, undone) }
        return undone
    }

    private func undone(_ operations: [SequenceNumber]) throws -> [UndoneOperation] {
        var chosen = Set(operations)
        var changeSets: Set<SequenceNumber> = []
        for operation in operations {
            guard let undone = try state.bookkeeping.undoneOperation(operation) else {
                throw OperationRefused(
                    .notUndoable, "Operation \(operation) is not undone, so there is nothing to redo.")
            }
            // The members of a change set are consecutive.
            guard let first = undone.operation.operation.changeSet, changeSets.insert(first).inserted else { continue }
            var member = first
            while let other = try state.bookkeeping.undoneOperation(member),
                other.operation.operation.changeSet == first
            {
                chosen.insert(member)
                member += 1
            }
        }
        return try chosen.sorted().compactMap { try state.bookkeeping.undoneOperation($0) }
    }

    private func refused(
        _ refusal: (operation: SequenceNumber, reason: OperationRefused), _ undone: [UndoneOperation]
    ) throws -> OperationRefused {
        guard undone.contains(where: { $0.sequence == refusal.operation }) else {
            return OperationRefused(
                refusal.reason.code,
                "Operation \(refusal.operation), which was performed later, contradicts the operations to redo. \(refusal.reason.message)",
                recovery: "Undo operation \(refusal.operation) first.")
        }
        let needed = try creators(neededBy: undone)
        return OperationRefused(
            refusal.reason.code, "Operation \(refusal.operation) cannot be redone. \(refusal.reason.message)",
            recovery: needed.isEmpty
                ? refusal.reason.recovery
                : "Also redo \(needed.map(String.init).joined(separator: ", ")), which creates an entity that it needs."
        )
    }

    /// Returns other undone operations that create entities to which these refer.
    private func creators(neededBy undone: [UndoneOperation]) throws -> [SequenceNumber] {
        let named = Set(undone.flatMap(\.operation.operation.referencedEntities))
        let chosen = Set(undone.map(\.sequence))
        return try state.bookkeeping.undoneOperations().filter {
            !chosen.contains($0.sequence) && !named.isDisjoint(with: $0.operation.operation.createdEntities)
        }.map(\.sequence)
    }
}

extension PendingOperation {
    /// Whether the service has not processed any of it.
    var isUndoable: Bool {
        switch status {
        case .pending, .rejected, .deferred: true
        case .inFlight, .inDoubt: false
        }
    }
}

extension Operation {
    /// Returns whether the operation is primarily about one of the entities. An operation on another entity that only
    /// links to one of these is not.
    func isAbout(_ entities: Set<EntityID>) -> Bool {
        if let bound = call?.boundEntity, entities.contains(bound) { return true }
        return switch action {
        case .create(let creation, _): !entities.isDisjoint(with: creation.createdEntities)
        case .update(let entity, let changes, let bindings):
            entities.contains(entity)
                || changes.isEmpty && bindings.contains { !entities.isDisjoint(with: $0.targets) }
        case .delete(let entity): entities.contains(entity)
        case .createLink(let link), .updateLink(let link), .deleteLink(let link):
            entities.contains(link.from) || entities.contains(link.to)
        }
    }
}
