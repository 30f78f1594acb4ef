import EDM
import Operations

/// Keeps what entities were when the pending changes of them were made, where somebody else changes them meanwhile.
extension Fold {
    /// What entities with pending changes were before the base changed; nil for one that the service did not have.
    typealias Before = [EntityID: Ancestor?]

    private var resolver: EntityResolver<WorkingSet>? { model.map { EntityResolver(storage: storage, model: $0) } }

    /// Changes the base, and tells what was changed and what it was before.
    mutating func editBase(
        notesTouched: Bool = true,
        _ body: (inout StateEditor) throws(StateError) -> Void
    ) throws(StateError) -> (touched: Set<EntityID>, before: Before) {
        let watches = try storage.hasPending()
        var before: Before = [:]
        let touched = try edit(.base) { e throws(StateError) in
            e.watchesBase = watches
            e.notesTouched = notesTouched
            try body(&e)
            before = e.before
        }
        return (touched, before)
    }

    /// Changes the base for what others did, or may have done.
    mutating func editForOthers(
        _ body: (inout StateEditor) throws(StateError) -> Void
    ) throws(StateError) {
        try keep(try editBase(notesTouched: false, body).before)
    }

    private func keep(_ before: Before) throws(StateError) {
        for (id, ancestor) in before.sorted(by: { $0.key < $1.key }) { try keep(id, ancestor) }
    }

    /// The base has changed by somebody else's doing.
    private func keep(_ id: EntityID, _ before: Ancestor?) throws(StateError) {
        let known = try storage.ancestor(id)
        guard var ancestor = known ?? before, let index, let resolver, let now = try resolver.visible(id, index) else {
            return try storage.removeAncestor(id)
        }
        if known == nil, ancestor.row.origin == .serviceWithStaleETag {
            // The first reading after a change of our own, which may have had consequences.
            ancestor = ancestor.restricted(to: try ChangeTally(of: id, in: storage.pendingChanges(of: id), resolver))
        }
        if known != nil, let before, before.isReplaced(by: now) {
            // Not by the service's way to write it: that came with our own change, and had the ETag of its answer.
            let changes = try ChangeTally(of: id, in: storage.pendingChanges(of: id), resolver)
            for name in before.row.values.names where ancestor.row.values[name] == nil && changes.names(name) {
                ancestor.row.values[name] = before.row.values[name]
            }
        }
        if !ancestor.differs(from: now) {
            // It is as it was, or all that is new is what nobody knew.
            if known != nil { try storage.removeAncestor(id) }
        } else if ancestor != known {
            try storage.putAncestor(ancestor)
        }
    }

    /// What is still pending on the entity. Counted once for all that one answer confirms: with many changes of one entity
    /// each would read all those behind it again.
    private mutating func laterChanges(
        of id: EntityID, _ resolver: EntityResolver<WorkingSet>
    ) throws(StateError) -> ChangeTally {
        if let known = laterChanges[id] { return known }
        let found = try ChangeTally(of: id, in: storage.pendingChanges(of: id), resolver)
        laterChanges[id] = found
        return found
    }

    /// The operation is pending no longer.
    mutating func uncount(_ pending: PendingOperation) throws(StateError) {
        guard !laterChanges.isEmpty, let resolver else { return }
        for id in Set(pending.operation.touchedEntities) {
            guard laterChanges[id] != nil else { continue }
            let ended = try EntityChanges(of: id, in: [pending], resolver)
            laterChanges[id]?.remove(ended)
        }
    }

    // MARK: Our own changes

    /// An operation of ours has come true: what it changed is nobody else's doing, and the pending ones that follow were made
    /// on it.
    ///
    /// - Parameters:
    ///   - before: what the entities were before the operation came true.
    ///   - done: what they were after that, before the answer was taken over.
    ///   - images: what the service answered.
    mutating func advance(
        _ operation: Operation, _ before: Before, _ done: Before, _ images: [EntityImage]
    ) throws(StateError) {
        if before.isEmpty, done.isEmpty { return }
        let own = Set(operation.touchedEntities)
        let shown = Set(images.map(\.entity))
        for id in Set(before.keys).union(done.keys).sorted() {
            if before[id] == nil, shown.contains(id), !own.contains(id) {
                // The answer shows an entity besides: that is others' doing, if it is news.
                try keep(id, done[id] ?? nil)
            } else {
                try advance(id, operation, from: before[id] ?? done[id] ?? nil, through: done[id] ?? nil, images)
            }
        }
    }

    private mutating func advance(
        _ id: EntityID, _ operation: Operation, from then: Ancestor?, through done: Ancestor?, _ images: [EntityImage]
    ) throws(StateError) {
        guard let index, let resolver, let now = try resolver.visible(id, index) else {
            return try storage.removeAncestor(id)
        }
        let done = done ?? now
        let known = try storage.ancestor(id)
        let own = images.filter { $0.entity == id }
        // A request with an If-Match was refused if anybody else had changed anything: all that came back is our doing. And
        // what an answer does to an entity that it does not show follows from what it shows.
        let isConditional = operation.isConditional(on: id) && then?.row.etag != nil
        var ancestor = known ?? (isConditional || own.isEmpty ? now : done)
        let told = Set(own.flatMap(\.values.names))
        var untold: Set<String> = []
        for name in operation.properties(of: id, before: then, done) {
            // What the service makes of a value is not known before it says so: it may cut a text, or round a number.
            ancestor.row.values[name] = told.contains(name) ? now.row.values[name] : nil
            if !told.contains(name) { untold.insert(name) }
        }
        if own.isEmpty {
            for name in now.row.values.names where done.row.values[name] != now.row.values[name] {
                ancestor.row.values[name] = now.row.values[name]
            }
        }
        ancestor.links.removeAll { then?.partner($0) != now.partner($0) }
        let later = try laterChanges(of: id, resolver)
        // What the service changed besides may be a consequence of what we changed.
        if known == nil { ancestor = ancestor.restricted(to: later) }
        if ancestor.differs(from: now) || untold.contains(where: later.names) {
            try storage.putAncestor(ancestor)
        } else if known != nil {
            try storage.removeAncestor(id)
        }
    }

    /// What the app changes now it has seen as it is now: only what it changed before goes back further.
    func advance(for operation: Operation) throws(StateError) {
        guard try storage.hasAncestors(), let index, let resolver else { return }
        for id in Set(operation.referencedEntities).sorted() where operation.changes(id) {
            guard var ancestor = try storage.ancestor(id), let now = try resolver.visible(id, index) else { continue }
            var earlier = try EarlierChanges(of: id, resolver)
            let changes = try EntityChanges(
                of: id, in: [PendingOperation(sequence: 0, time: 0, operation: operation, status: .pending)], resolver)
            for name in changes.deletes ? Set(now.row.values.names) : changes.properties
            where ancestor.row.values[name] != now.row.values[name] {
                if try !earlier.names(name) { ancestor.row.values[name] = now.row.values[name] }
            }
            for (position, end) in ancestor.links.enumerated()
            where changes.deletes || changes.ends.contains(where: { $0.end.isSameEnd(end) }) {
                guard let partner = now.partner(end), partner != end, try !earlier.decides(end) else { continue }
                ancestor.links[position] = partner
            }
            if ancestor.differs(from: now) {
                try storage.putAncestor(ancestor)
            } else {
                try storage.removeAncestor(id)
            }
        }
    }

    /// Without a pending change of an entity there is nothing to compare.
    func forgetAncestors(of ids: some Sequence<EntityID>) throws(StateError) {
        guard try storage.hasAncestors() else { return }
        for id in ids where try storage.ancestor(id) != nil {
            if try !storage.hasPendingChange(of: id) { try storage.removeAncestor(id) }
        }
    }

    // MARK: Resolution

    mutating func apply(_ resolved: ConflictResolved, by record: SequenceNumber) throws(StateError) {
        try unwind()
        for part in resolved.dropped {
            guard var pending = try storage.pendingOperation(part.operation),
                case .update(let entity, var changes, var bindings) = pending.operation.action
            else { continue }
            for name in part.properties { changes[name] = nil }
            bindings.removeAll { part.navigations.contains($0.navigation) }
            pending.operation.action = .update(entity, changes: changes, bindings: bindings)
            // Removed first: it may name fewer entities now.
            try removePending(part.operation)
            try storage.putPending(pending)
        }
        try undo(resolved.takenBack, by: record)
        for operation in resolved.released { try setStatus(operation, .pending) }
        try keepAncestorForDrafts(of: resolved.entity)
    }

    /// What was decided is about what is to be sent. Drafts are compared when they are released, and nobody was asked about
    /// them.
    private func keepAncestorForDrafts(of id: EntityID) throws(StateError) {
        guard let known = try storage.ancestor(id) else { return }
        let pending = try storage.pendingChanges(of: id)
        let drafts = pending.filter { $0.operation.delivery == .draft }
        guard !drafts.isEmpty, let index, let resolver, let now = try resolver.visible(id, index) else {
            return try storage.removeAncestor(id)
        }
        let left = known.leftForDrafts(
            try EntityChanges(of: id, in: drafts, resolver),
            decided: try EntityChanges(of: id, in: pending.filter { $0.operation.delivery == .queued }, resolver),
            now: now)
        if left.differs(from: now) { try storage.putAncestor(left) } else { try storage.removeAncestor(id) }
    }

    /// The service says that it does not have these.
    mutating func remove(_ missing: [EntityID]) throws(StateError) {
        try unwind()
        for id in missing {
            let isNamed = try !storage.pendingOperations(naming: id).isEmpty
            try editForOthers { e throws(StateError) in try e.removeFromBase(id, hasPending: isNamed) }
        }
    }
}

extension Operation {
    /// Whether its request carries the ETag of the entity where that has one.
    fileprivate func isConditional(on id: EntityID) -> Bool {
        switch action {
        case .update(let entity, _, _), .delete(let entity): entity == id
        case .create, .createLink, .updateLink, .deleteLink: false
        }
    }

    /// The properties of the entity that the operation set, in its words or by what follows from them.
    fileprivate func properties(of id: EntityID, before: Ancestor?, _ done: Ancestor) -> Set<String> {
        var names = Set(done.row.values.names.filter { before?.row.values[$0] != done.row.values[$0] })
        if case .update(id, let changes, _) = action { names.formUnion(changes.names) }
        return names
    }
}
