import EDM
import Operations

/// The changes of the base state while the pending operations remained applied.
struct BaseEdits {
    /// Whether changes are tracked. A Boolean value, because a comparison of an optional copies all tables.
    private(set) var areTracked = false
    /// The kinds of access that wrote each item, by the raw values of the items.
    var writes = IDTable<Access>()
    /// See ``StateLayer/matches``.
    var matches: [StateItem: SmallSet<EntityID>] = [:]
    /// Operations to revert, because they ended or their content changed. Those still pending are reapplied.
    var removed = IDTable<Void>()
    /// Operations that are not applied yet: new and redone ones.
    var added: Set<SequenceNumber> = []

    init(areTracked: Bool = false) { self.areTracked = areTracked }

    mutating func add(_ layer: StateLayer) {
        layer.effect.forEachAccess { item, access in
            if !access.isDisjoint(with: .writes) {
                let place = writes.place(of: item.rawValue, inserting: [])
                writes[at: place].formUnion(access.intersection(.writes))
            }
        }
    }
}

/// The items that the operations to revert access: the kind of access, and the first of these operations.
private struct AffectedItems {
    struct Extent {
        var access: Access
        /// The first of the operations, or 0 for the base state.
        var first: SequenceNumber
        /// Whether the item is in ``AffectedItems/grown``.
        var hasGrown = true
    }

    private var items = IDTable<Extent>()
    /// The items with more accesses than when they were last examined.
    private var grown: [StateItem] = []

    mutating func add(_ item: StateItem, _ access: Access, by operation: SequenceNumber) {
        guard let place = items.place(of: item.rawValue) else {
            items.updateValue(Extent(access: access, first: operation), for: item.rawValue)
            grown.append(item)
            return
        }
        let known = items[at: place]
        let reach = Extent(access: known.access.union(access), first: min(known.first, operation))
        guard reach.access != known.access || reach.first != known.first else { return }
        items[at: place] = reach
        if !known.hasGrown { grown.append(item) }
    }

    /// Removes and returns an item that has grown, with its accesses.
    mutating func next() -> (item: StateItem, reach: Extent)? {
        guard let item = grown.popLast(), let place = items.place(of: item.rawValue) else { return nil }
        items[at: place].hasGrown = false
        return (item, items[at: place])
    }
}

/// The rebase of a part of the queue after the base state was changed below it.
///
/// The result has to equal that of reapplying all pending operations in order. An operation has the same effect as
/// before if it neither reads nor writes an item that changes, or an item that another reapplied operation reads or
/// writes. The remaining operations are reverted, that is, the rows and links that they wrote get their base state, and
/// are then reapplied in order:
///
/// - operations that read an item that was written in the base state, or wrote the same item
/// - later operations that read an item that one of these writes, or write an item that one of these reads
/// - earlier and later operations that wrote the same row or link as one of these, because rows and links are reverted
///   as a whole
///
/// A reapplied operation may access other items than before. If these accesses reach later operations that are still
/// applied, these are reverted too, and the process is repeated.
struct PartialReplay {
    private let storage: WorkingSet
    private let model: EntityDataModel
    private let index: RelationshipIndex
    private let edits: BaseEdits
    private var region = AffectedItems()
    /// The reverted operations.
    private var taken = IDTable<Void>()
    /// The changes by the reapplied operations.
    private(set) var touched = DirtySet()

    init(_ storage: WorkingSet, _ model: EntityDataModel, _ index: RelationshipIndex, _ edits: BaseEdits) {
        self.storage = storage
        self.model = model
        self.index = index
        self.edits = edits
    }

    /// Rebases the affected operations.
    ///
    /// - Parameter limit: The maximum number of operations to reapply.
    /// - Returns: False if the limit is exceeded; then all pending operations have to be reverted.
    mutating func run(limit: Int) throws(StateError) -> Bool {
        let (sum, isOver) = limit.addingReportingOverflow(edits.removed.count)
        let limit = isOver ? .max : sum
        for (item, access) in zip(edits.writes.ids, edits.writes.values) {
            region.add(StateItem(rawValue: item), access, by: 0)
        }
        // Looked up once, because each look-up checks whether the effects were read from the storage.
        let effects = try storage.queue.loadWithEffects().effects
        for sequence in edits.removed.ids { include(sequence, effects, isGone: try !storage.isPending(sequence)) }
        _ = spread(limit, effects)
        repeat {
            guard taken.count <= limit else { return false }
            try revert(effects)
            try reapply()
        } while spread(limit, effects)
        for sequence in edits.removed.ids where try !storage.isPending(sequence) {
            try storage.removeEffect(of: sequence)
        }
        return true
    }

    private mutating func include(_ sequence: SequenceNumber, _ effects: EffectLog, isGone: Bool = false) {
        guard taken.updateValue((), for: sequence) == nil else { return }
        effects.forEachAccess(by: sequence) { item, access in
            let reach = isGone ? access.intersection(.writes) : access
            if !reach.isEmpty { region.add(item, reach, by: sequence) }
        }
    }

    /// Adds the operations that the region reaches, up to the limit. Returns whether there were any.
    private mutating func spread(_ limit: Int, _ effects: EffectLog) -> Bool {
        let before = taken.count
        while taken.count <= limit, let (item, reach) = region.next() {
            effects.forEachAccess(to: item, disturbedBy: reach.access) { operation, access in
                // An earlier operation is reached only if it wrote the same item.
                if operation > reach.first || access.overwrites(reach.access) { include(operation, effects) }
            }
        }
        return taken.count > before
    }

    private func revert(_ effects: EffectLog) throws(StateError) {
        // Not the property, because the closure would copy the whole value.
        let storage = storage
        for sequence in taken.ids {
            try effects.forEachAccess(by: sequence) { item, access throws(StateError) in
                guard access.contains(.writesValues), let id = item.entity, let base = try storage.base(id) else {
                    return
                }
                switch base {
                case .absent: try storage.removeRow(id)
                case .row(let row): try storage.putRow(row)
                }
                try storage.removeBase(id)
            }
            for ends in effects.links(of: sequence) {
                guard var link = try storage.link(ends.relationship, first: ends.first, second: ends.second),
                    link.inLocal != link.inBase
                else { continue }
                if link.inBase {
                    link.inLocal = true
                    try storage.putLink(link)
                } else {
                    try storage.removeLink(link.relationship, first: link.first, second: link.second)
                }
            }
        }
    }

    /// Reapplies the operations in their order.
    private mutating func reapply() throws(StateError) {
        let layer = StateLayer(storage, index, .local, records: true)
        for sequence in (Array(taken.ids) + edits.added.filter { !taken.contains($0) }).sorted() {
            guard let pending = try storage.pendingOperation(sequence) else { continue }
            layer.discardEffect()
            var editor = StateEditor(storage: layer, model: model)
            if let operation = try pending.visible(in: storage, model) { try editor.apply(operation) }
            touched.add(editor.touched)
            let effect = layer.effect
            if try storage.effect(of: sequence) != effect { try storage.putEffect(effect, of: sequence) }
            taken.updateValue((), for: sequence)
            effect.forEachAccess { item, access in region.add(item, access, by: sequence) }
        }
    }
}
