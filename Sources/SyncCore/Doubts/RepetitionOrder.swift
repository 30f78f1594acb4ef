package import EDM
package import Operations

/// The order of the change sets of a batch that are repeated in parts.
package struct RepetitionOrder {
    private let resolver: EntityResolver<WorkingSet>

    package init(storage: WorkingSet, model: EntityDataModel) {
        resolver = EntityResolver(storage: storage, model: model)
    }

    /// Returns the change sets that the service must not execute before earlier operations, because they do not commute,
    /// directly or through one another.
    ///
    /// - Parameters:
    ///   - places: The positions of the change sets.
    ///   - operations: Operations without an outcome, before all of these change sets.
    ///   - left: The positions of other change sets without an outcome.
    package func places(
        _ places: [Int], of prepared: BatchPrepared, behind operations: Set<SequenceNumber>, _ left: [Int]
    ) throws(StateError) -> [Int] {
        if operations.isEmpty, left.isEmpty { return [] }
        var tracker = LinkTracker(resolver)
        var earlier = try entities(of: operations, &tracker)
        var found: [Int] = []
        for place in (places + left).sorted() {
            let own = try entities(of: Set(prepared.changeSets[place].map(\.operation)), &tracker)
            if !left.contains(place) {
                guard
                    own.changed.contains(where: earlier.all.contains)
                        || own.all.contains(where: earlier.changed.contains)
                else { continue }
                found.append(place)
            }
            earlier.all.formUnion(own.all)
            earlier.changed.formUnion(own.changed)
        }
        return found
    }

    /// Returns the entities that the operations read or change, and those that they change.
    private func entities(
        of operations: Set<SequenceNumber>, _ tracker: inout LinkTracker<WorkingSet>
    ) throws(StateError) -> (all: EntityIDs, changed: EntityIDs) {
        var (all, changed) = (EntityIDs(), EntityIDs())
        for sequence in operations.sorted() {
            guard let pending = try resolver.storage.pendingOperation(sequence) else { continue }
            let footprint = try resolver.footprint(pending.operation, &tracker)
            all.formUnion(footprint.entities)
            changed.formUnion(footprint.writes)
            changed.formUnion(footprint.affected)
        }
        return (all, changed)
    }
}
