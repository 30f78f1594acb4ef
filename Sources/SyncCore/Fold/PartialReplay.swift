import EDM
import Operations

/// What changed in the base while the pending operations stayed on top.
struct BaseEdits {
    var writes: [StateItem: Access] = [:]
    /// See ``StateLayer/matches``.
    var matches: [StateItem: Set<EntityID>] = [:]
    /// Operations that are to be taken off: they ended, or are others now. What is still pending of them comes back.
    var removed: Set<SequenceNumber> = []
    /// Operations that are on top of nothing yet: they came meanwhile, or back.
    var added: Set<SequenceNumber> = []

    mutating func add(_ layer: StateLayer) {
        layer.effect.forEachAccess { item, access in
            if !access.isDisjoint(with: .writes) {
                writes[item, default: []].formUnion(access.intersection(.writes))
            }
        }
        matches = layer.matches
    }
}

/// The items that operations to be taken off have to do with: how, and from which operation on.
private struct Region {
    struct Reach {
        var access: Access
        /// The first of the operations; 0 for the base itself.
        var first: SequenceNumber
    }

    var items: [StateItem: Reach] = [:]
    /// Those that have grown since they were looked at.
    var grown: Set<StateItem> = []

    mutating func add(_ item: StateItem, _ access: Access, by operation: SequenceNumber) {
        guard let known = items[item] else {
            items[item] = Reach(access: access, first: operation)
            grown.insert(item)
            return
        }
        let reach = Reach(access: known.access.union(access), first: min(known.first, operation))
        guard reach.access != known.access || reach.first != known.first else { return }
        items[item] = reach
        grown.insert(item)
    }
}

/// Puts the state in order after the base was edited below the pending operations.
///
/// The pending operations were applied one after the other, each on what those before it left. When something below changes,
/// the result has to be what it would be if they were all applied anew. An operation that neither reads nor writes what
/// changes, nor what the others to be applied anew read or write, comes to the same. The others are taken off, that is,
/// what they wrote is as the base has it, and applied again in their order:
///
/// - who read what was written in the base, and who wrote the same;
/// - who comes later than one of these and reads what that writes, or writes what that reads;
/// - who wrote the same row or link as one of these, whenever: rows and links are put back as a whole.
///
/// Applied anew, an operation may read and write other things than before. Where that reaches later operations that stayed
/// on top, these are taken off as well, and all is done again.
struct PartialReplay {
    private let storage: WorkingSet
    private let model: EntityDataModel
    private let index: RelationshipIndex
    private let edits: BaseEdits
    private var region = Region()
    /// The operations that are taken off.
    private var taken: Set<SequenceNumber> = []
    /// What the operations changed that were applied anew.
    private(set) var touched = Touched()

    init(_ storage: WorkingSet, _ model: EntityDataModel, _ index: RelationshipIndex, _ edits: BaseEdits) {
        self.storage = storage
        self.model = model
        self.index = index
        self.edits = edits
    }

    /// - Parameter limit: how many operations are applied anew at most.
    /// - Returns: false where there would be more: then all have to be taken off.
    mutating func run(limit: Int) throws(StateError) -> Bool {
        let (sum, isOver) = limit.addingReportingOverflow(edits.removed.count)
        let limit = isOver ? .max : sum
        for (item, access) in edits.writes { region.add(item, access, by: 0) }
        for sequence in edits.removed {
            try take(sequence, isGone: try storage.pendingOperation(sequence) == nil)
        }
        _ = try spread(limit)
        repeat {
            guard taken.count <= limit else { return false }
            try takeOff()
            try putBack()
        } while try spread(limit)
        for sequence in edits.removed where try storage.pendingOperation(sequence) == nil {
            try storage.removeEffect(of: sequence)
        }
        return true
    }

    private mutating func take(_ sequence: SequenceNumber, isGone: Bool = false) throws(StateError) {
        guard taken.insert(sequence).inserted, let effect = try storage.effect(of: sequence) else { return }
        effect.forEachAccess { item, access in
            let reach = isGone ? access.intersection(.writes) : access
            if !reach.isEmpty { region.add(item, reach, by: sequence) }
        }
    }

    /// Takes in what the region reaches, until these are too many. Returns whether there was anything.
    private mutating func spread(_ limit: Int) throws(StateError) -> Bool {
        let before = taken.count
        while !region.grown.isEmpty, taken.count <= limit {
            let grown = region.grown
            region.grown = []
            for item in grown {
                guard let reach = region.items[item] else { continue }
                for (operation, access) in try storage.accesses(of: item) where !taken.contains(operation) {
                    let isReached =
                        access.overwrites(reach.access)
                        || (operation > reach.first && reach.access.disturbs(later: access))
                    if isReached { try take(operation) }
                }
            }
        }
        return taken.count > before
    }

    private func takeOff() throws(StateError) {
        for sequence in taken {
            guard let effect = try storage.effect(of: sequence) else { continue }
            for id in effect.rows {
                guard let base = try storage.base(id) else { continue }
                switch base {
                case .absent: try storage.removeRow(id)
                case .row(let row): try storage.putRow(row)
                }
                try storage.removeBase(id)
            }
            for ends in effect.links {
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

    /// In the order in which they were made.
    private mutating func putBack() throws(StateError) {
        for sequence in taken.union(edits.added).sorted() {
            guard let pending = try storage.pendingOperation(sequence) else { continue }
            let layer = StateLayer(storage, index, .local, records: true)
            var editor = StateEditor(storage: layer, model: model, index: index)
            if let operation = try pending.visible(in: storage, model) { try editor.apply(operation) }
            touched.add(editor.touched)
            let effect = layer.effect
            if try storage.effect(of: sequence) != effect { try storage.putEffect(effect, of: sequence) }
            taken.insert(sequence)
            effect.forEachAccess { item, access in region.add(item, access, by: sequence) }
        }
    }
}
