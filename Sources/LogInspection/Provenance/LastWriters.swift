import EDM
import Operations

/// The last writers of the parts of one entity, in the base state and in pending operations.
struct LastWriters {
    struct Writer: Hashable {
        let sequence: SequenceNumber
        let time: Timestamp?
        let cause: Provenance.Cause
    }

    /// A property, or one target of a navigation property.
    enum WrittenPart: Hashable {
        case property(String)
        case link(String, EntityID)
    }

    /// A value that an operation wrote when it was applied.
    private struct Edit {
        let operation: SequenceNumber
        let time: Timestamp?
        let value: Value?
        /// Whether the operation contains the value itself. Otherwise it is a consequence of the operation.
        let isExplicit: Bool
    }

    let entity: EntityID
    private var base: [WrittenPart: Writer] = [:]
    private var edits: [WrittenPart: [Edit]] = [:]
    private var partsByOperation: [SequenceNumber: Set<WrittenPart>] = [:]
    /// Facts that changed only the current state, for example the key of another entity from which a pending operation
    /// takes a value.
    private var consequences: [WrittenPart: Writer] = [:]

    init(of entity: EntityID) { self.entity = entity }

    mutating func setBase(_ part: WrittenPart, _ writer: Writer) { base[part] = writer }

    mutating func setConsequence(_ part: WrittenPart, _ writer: Writer) { consequences[part] = writer }

    mutating func edit(
        _ part: WrittenPart, by operation: SequenceNumber, at time: Timestamp?, value: Value?, isExplicit: Bool
    ) {
        partsByOperation[operation, default: []].insert(part)
        edits[part, default: []].append(Edit(operation: operation, time: time, value: value, isExplicit: isExplicit))
    }

    /// Returns the parts that the operations wrote when they were applied.
    func parts(editedBy operations: Set<SequenceNumber>) -> Set<WrittenPart> {
        operations.reduce(into: []) { $0.formUnion(partsByOperation[$1] ?? []) }
    }

    /// Returns the last of the operations that wrote the part, with its value.
    func lastEdit(
        of part: WrittenPart, among operations: Set<SequenceNumber>
    ) -> (writer: Writer, value: Value?)? {
        guard let edit = edits[part]?.last(where: { operations.contains($0.operation) }) else { return nil }
        return (Writer(sequence: edit.operation, time: edit.time, cause: .edit(edit.operation)), edit.value)
    }

    /// Returns the last writer of the part in the current state.
    ///
    /// - Parameter pending: The pending operations with their current content.
    func writer(of part: WrittenPart, pending: [SequenceNumber: Operation]) -> Writer? {
        let edit = (edits[part] ?? []).max { a, b in
            // The number decides and not the order of application, because a redone operation has its old position.
            (isOnTop(a, part, pending) ? a.operation : 0) < (isOnTop(b, part, pending) ? b.operation : 0)
        }
        guard let edit, isOnTop(edit, part, pending) else { return base[part] ?? consequences[part] }
        // A consequence of an operation may also depend on later facts.
        if !edit.isExplicit || edit.value == nil, case .property = part, let consequence = consequences[part],
            consequence.sequence > edit.operation
        {
            return consequence
        }
        return Writer(sequence: edit.operation, time: edit.time, cause: .edit(edit.operation))
    }

    private func isOnTop(_ edit: Edit, _ part: WrittenPart, _ pending: [SequenceNumber: Operation]) -> Bool {
        guard let operation = pending[edit.operation] else { return false }
        guard edit.isExplicit else { return true }
        switch part {
        case .property(let name): return operation.explicitValues[entity]?.names.contains(name) ?? false
        // A conflict resolution may have removed the binding.
        case .link(let navigation, let target): return operation.links(navigation, target)
        }
    }
}

extension Operation {
    /// The explicit values of the operation, by entity.
    var explicitValues: [EntityID: PropertyValues] {
        switch action {
        case .create(let creation, _):
            var values: [EntityID: PropertyValues] = [:]
            var left = [creation]
            while let creation = left.popLast() {
                values[creation.entity] = creation.values
                left += creation.inline.flatMap(\.entities)
            }
            return values
        case .update(let entity, let changes, _): return [entity: changes]
        case .delete, .createLink, .updateLink, .deleteLink: return [:]
        }
    }

    /// Returns whether an update still binds the property to the entity. Other operations are never reduced.
    fileprivate func links(_ navigation: String, _ target: EntityID) -> Bool {
        guard case .update(let entity, _, let bindings) = action else { return true }
        return bindings.contains { binding in
            (binding.navigation == navigation && binding.targets.contains(target))
                // From the perspective of the other end.
                || (entity == target && !binding.targets.isEmpty)
        }
    }
}
