package import EDM
package import Operations

/// Determines the client-only operations whose changes can become part of the base state.
///
/// An operation qualifies if the base state contains its entities, and if no earlier operation on them remains.
package struct KeepableChanges {
    private let storage: WorkingSet
    private let split: ClientOnlySplit

    package init(storage: WorkingSet, model: EntityDataModel) {
        self.storage = storage
        split = ClientOnlySplit(storage: storage, model: model)
    }

    /// Returns the oldest operations that qualify.
    ///
    /// - Parameter remaining: The number of the newest client-only operations to omit, so that they can be undone.
    /// - Complexity: One pass over the queue.
    package func operations(leaving remaining: Int) throws(StateError) -> [SequenceNumber] {
        var own: Set<SequenceNumber> = []
        let pending = try storage.pendingOperations()
        for pending in pending where try split.isClientOnly(pending.operation) { own.insert(pending.sequence) }
        guard own.count > remaining else { return [] }
        let last = own.sorted()[own.count - remaining - 1]
        var found: [SequenceNumber] = []
        var created: Set<EntityID> = []
        var blocked: Set<EntityID> = []
        for unit in PendingOperation.units(pending) {
            let operations = unit.map(\.operation)
            let new = Set(operations.flatMap(\.createdEntities))
            let touched = Set(operations.flatMap(\.touchedEntities))
            let isOwn = unit.allSatisfy { own.contains($0.sequence) && $0.sequence <= last }
            guard isOwn, touched.isDisjoint(with: blocked), try areInBase(touched.subtracting(new).subtracting(created))
            else {
                // An operation for the service does not order client-only ones.
                if unit.contains(where: { own.contains($0.sequence) }) { blocked.formUnion(touched) }
                continue
            }
            found += unit.map(\.sequence)
            created.formUnion(new)
        }
        return found
    }

    private func areInBase(_ entities: Set<EntityID>) throws(StateError) -> Bool {
        for entity in entities where try !isInBase(entity) { return false }
        return true
    }

    private func isInBase(_ entity: EntityID) throws(StateError) -> Bool {
        switch try storage.base(entity) {
        case .row: true
        case .absent: false
        case nil: try storage.row(entity) != nil
        }
    }
}
