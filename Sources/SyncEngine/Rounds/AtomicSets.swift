import Operations
import SyncCore

/// Which operations in doubt were in one change set, as far as they tell themselves: the log says more, but compaction may
/// have removed it.
enum AtomicSets {
    /// The operations in groups whose members took effect together or not at all, each in order.
    static func of(_ doubtful: [PendingOperation]) -> [[PendingOperation]] {
        var group = Array(doubtful.indices)
        func root(_ index: Int) -> Int {
            var index = index
            while group[index] != index {
                group[index] = group[group[index]]
                index = group[index]
            }
            return index
        }
        func join(_ a: Int, _ b: Int) {
            let (a, b) = (root(a), root(b))
            group[max(a, b)] = min(a, b)
        }
        var changeSets: [Member<SequenceNumber>: Int] = [:]
        var creators: [Member<EntityID>: Int] = [:]
        for (index, pending) in doubtful.enumerated() {
            // Batch 0 stands for operations whose batch is lost, if there was one.
            guard case .inDoubt(let batch, _) = pending.status, batch != 0 else { continue }
            if let first = pending.operation.changeSet {
                let member = Member(batch: batch, of: first)
                if let other = changeSets[member] { join(index, other) } else { changeSets[member] = index }
            }
            for id in pending.operation.createdEntities { creators[Member(batch: batch, of: id)] = index }
        }
        // A request refers to what another of its batch creates only by Content-ID, so within one change set.
        for (index, pending) in doubtful.enumerated() {
            guard case .inDoubt(let batch, _) = pending.status else { continue }
            for id in pending.operation.referencedEntities {
                if let creator = creators[Member(batch: batch, of: id)] { join(index, creator) }
            }
        }
        return Dictionary(grouping: doubtful.indices, by: root).sorted { $0.key < $1.key }.map {
            $0.value.map { doubtful[$0] }
        }
    }

    private struct Member<ID: Hashable>: Hashable {
        let batch: BatchID
        let of: ID
    }
}
