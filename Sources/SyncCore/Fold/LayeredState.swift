import EDM
import Operations

/// The state in two layers: the base state, and the current state with the pending operations applied to it.
///
/// A change of the base state is a rebase: ``beginRebase()`` reverts the pending operations, and ``finishRebase()``
/// reapplies them. In a long queue only the affected operations are reverted, with the same result; see
/// ``PartialReplay``.
struct LayeredState {
    let storage: WorkingSet
    private(set) var model: EntityDataModel?
    /// The relationships of the model, or nil before a service is installed.
    private(set) var index: RelationshipIndex?
    /// Whether the pending operations are reverted at the moment.
    private var isReverted = false
    /// The changes of the base state while the pending operations remained applied.
    var edits = BaseEdits()
    /// Whether the pending operations are applied to the current base state, so that the state equals that of the log.
    var isRebased: Bool { !isReverted && !edits.areTracked }
    /// The length up to which a queue is rebased as a whole, because that costs less than to determine the affected
    /// operations.
    var longQueue = Fold.usualLongQueue
    /// The number of partial rebases after operations ended or changed, for tests.
    private(set) var partialReplaysOfEnded = 0
    /// The time of the record that is being applied, or nil if it was lost.
    var time: Timestamp?
    /// The changes by operations since the last ``drainDirtySet()``.
    var touched = DirtySet()
    /// The versions of entities that other clients have changed under pending operations.
    var mergeBases: MergeBaseTracker
    /// The defining queries while answers are applied, which do not change them; nil if they were not read.
    private var knownQueries: [QueryState]?
    /// The layer to which operations are applied, one for all because of its memory; nil without a model.
    private(set) var localLayer: StateLayer?
    /// The layer of the last edit of the base state, kept because of its memory and its cached look-ups.
    var baseLayer: StateLayer?

    init(_ storage: WorkingSet) {
        self.storage = storage
        mergeBases = MergeBaseTracker(storage, nil, nil)
    }

    init(_ storage: WorkingSet, _ model: EntityDataModel, _ index: RelationshipIndex) {
        self.storage = storage
        self.model = model
        self.index = index
        mergeBases = MergeBaseTracker(storage, model, index)
        localLayer = StateLayer(storage, index, .local, records: true)
    }

    /// Replaces the metadata, without a change of the state.
    mutating func adopt(_ service: ServiceDescription) throws(StateError) {
        let model: EntityDataModel
        do throws(CSDLError) {
            model = try storage.models.read(service.metadata)
        } catch {
            throw StateError(.noModel, "The metadata of \(service.root) in the log cannot be parsed: \(error)")
        }
        let index = RelationshipIndex(model)
        self.model = model
        self.index = index
        mergeBases = MergeBaseTracker(storage, model, index)
        localLayer = StateLayer(storage, index, .local, records: true)
        baseLayer = nil
    }

    // MARK: Rebase

    /// Prepares a change of the base state: reverts the pending operations or, if there are many, keeps them applied
    /// and tracks the changes below them.
    mutating func beginRebase() throws(StateError) {
        guard isRebased else { return }
        if model != nil, try storage.pendingCount() > longQueue, try storage.hasEffects(),
            StateItem.namesEntities(before: try storage.header().nextEntity)
        {
            edits = BaseEdits(areTracked: true)
        } else {
            try revertPending()
        }
    }

    /// Reverts all pending operations, so that every entity and link has its base state.
    mutating func revertPending() throws(StateError) {
        guard !isReverted else { return }
        isReverted = true
        edits = BaseEdits()
        try storage.removeEffects()
        while true {
            let bases = try storage.drainBases(limit: 1_024)
            if bases.isEmpty { break }
            for (id, base) in bases {
                switch base {
                case .absent: try storage.removeRow(id)
                case .row(let row): try storage.putRow(row)
                }
            }
        }
        for var link in try storage.changedLinks() {
            if link.inBase {
                link.inLocal = true
                try storage.putLink(link)
            } else {
                try storage.removeLink(link.relationship, first: link.first, second: link.second)
            }
        }
    }

    /// Reverts all pending operations, including those that were applied since they were reverted.
    mutating func rewind() throws(StateError) {
        isReverted = false
        try revertPending()
    }

    /// Reapplies the pending operations if they were reverted.
    mutating func finishRebase() throws(StateError) {
        if edits.areTracked, let model, let index {
            var replay = PartialReplay(storage, model, index, edits)
            let count = try storage.pendingCount()
            if try replay.run(limit: longQueue == 0 ? .max : count / 2) {
                if !edits.removed.isEmpty { partialReplaysOfEnded += 1 }
                edits = BaseEdits()
                touched.add(replay.touched)
                return
            }
            try revertPending()
        }
        guard isReverted else { return }
        isReverted = false
        var next: SequenceNumber = 0
        while let page = try page(from: next) {
            for pending in page { try reapply(pending) }
            next = page[page.count - 1].sequence + 1
        }
    }

    private func page(from first: SequenceNumber) throws(StateError) -> [PendingOperation]? {
        let page = try storage.pendingOperations(from: first, limit: 256)
        return page.isEmpty ? nil : page
    }

    /// Applies a pending operation to the current state, and stores its effect.
    mutating func reapply(_ pending: PendingOperation) throws(StateError) {
        guard let model, let layer = localLayer else {
            return try storage.putEffect(OperationEffect(), of: pending.sequence)
        }
        layer.discardEffect()
        var editor = StateEditor(storage: layer, model: model)
        swap(&editor.touched, &touched)
        defer { swap(&editor.touched, &touched) }
        if !pending.isIncompatible {
            // Not copied.
            try editor.apply(pending.operation)
        } else if let part = try visible(pending) {
            try editor.apply(part)
        }
        try storage.putEffect(layer.effect, of: pending.sequence)
    }

    /// Discards the defining queries and later changes that the fold of an answered batch has cached.
    mutating func forgetAnswers() {
        mergeBases.forgetLaterChanges()
        knownQueries = nil
    }

    /// Returns the defining queries. Cached until ``forgetAnswers()``, because each answered creation needs them.
    mutating func definingQueries() throws(StateError) -> [QueryState] {
        if let knownQueries { return knownQueries }
        let found = try storage.bookkeeping.queries()
        knownQueries = found
        return found
    }

    /// Returns the changes by operations since the last call, for the cardinality rules.
    mutating func drainDirtySet() -> DirtySet {
        var drained = DirtySet()
        swap(&drained, &touched)
        return drained
    }

    /// Returns the part of a pending operation that is visible in the current state; see
    /// ``PendingOperation/visible(in:_:)``.
    func visible(_ pending: PendingOperation) throws(StateError) -> Operation? {
        guard pending.isIncompatible, let model else { return pending.operation }
        return try pending.visible(in: storage, model)
    }
}
