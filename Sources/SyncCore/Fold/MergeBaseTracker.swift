import EDM
import Operations

/// Maintains the merge bases: the versions of entities when their pending changes were made, stored if another client
/// changes them since.
struct MergeBaseTracker {
    private let storage: WorkingSet
    private let model: EntityDataModel?
    private let index: RelationshipIndex?
    /// The pending changes of the entities in a response while it is applied.
    private var laterChanges: [EntityID: ChangeReferenceCounts] = [:]

    init(_ storage: WorkingSet, _ model: EntityDataModel?, _ index: RelationshipIndex?) {
        self.storage = storage
        self.model = model
        self.index = index
    }

    /// The versions of entities with pending changes before the base changed; nil for an entity that the service did
    /// not have.
    typealias PriorVersions = [EntityID: MergeBase?]

    private var resolver: EntityResolver<WorkingSet>? { model.map { EntityResolver(storage: storage, model: $0) } }

    /// Stores or removes the merge bases of entities after another client changed their base states.
    ///
    /// - Parameter unchanged: The entities that the service returned with the ETag that they had before.
    func store(_ before: PriorVersions, unchanged: Set<EntityID> = []) throws(StateError) {
        for (id, mergeBase) in before.sorted(by: { $0.key < $1.key }) {
            try store(id, mergeBase, isUnchanged: unchanged.contains(id))
        }
    }

    /// Stores or removes the merge base of an entity after another client changed its base state.
    private func store(_ id: EntityID, _ before: MergeBase?, isUnchanged: Bool = false) throws(StateError) {
        let known = try storage.bookkeeping.mergeBase(id)
        guard var mergeBase = known ?? before, let index, let resolver, let now = try resolver.visible(id, index) else {
            return try storage.bookkeeping.removeMergeBase(id)
        }
        // The first read after a change by this store, which may have had side effects at the service.
        let isOwn = isUnchanged || before?.row.origin == .serviceWithStaleETag
        if known == nil, isOwn {
            mergeBase = mergeBase.restricted(
                to: try ChangeReferenceCounts(of: id, in: storage.pendingChanges(of: id), resolver))
        }
        if known != nil, let before, before.isReplaced(by: now) {
            // The ETag shows that another client made the change. It is not the service's notation of a written value,
            // because the response to the write contained that notation and its ETag.
            let changes = try ChangeReferenceCounts(of: id, in: storage.pendingChanges(of: id), resolver)
            for name in before.row.values.names where mergeBase.row.values[name] == nil && changes.names(name) {
                mergeBase.row.values[name] = before.row.values[name]
            }
        }
        if isOwn, let before { mergeBase.omitNormalized(before, now, of: model?.findEntityType(now.row.type)) }
        if !mergeBase.differs(from: now) {
            // The entity is as before, or only previously unknown values are new.
            if known != nil { try storage.bookkeeping.removeMergeBase(id) }
        } else if mergeBase != known {
            try storage.bookkeeping.putMergeBase(mergeBase)
        }
    }

    /// Returns the changes that are still pending on the entity. Cached for the whole response, because otherwise each
    /// of many changes of one entity would read all later ones again.
    private mutating func laterChanges(
        of id: EntityID, _ resolver: EntityResolver<WorkingSet>
    ) throws(StateError) -> ChangeReferenceCounts {
        if let known = laterChanges[id] { return known }
        let found = try ChangeReferenceCounts(of: id, in: storage.pendingChanges(of: id), resolver)
        laterChanges[id] = found
        return found
    }

    /// Removes an operation that is no longer pending, and touches these entities, from the cached changes.
    mutating func uncount(_ pending: PendingOperation, of touched: EntityIDs) throws(StateError) {
        guard !laterChanges.isEmpty, let resolver else { return }
        for id in touched where laterChanges.keys.contains(id) {
            let ended = try EntityChanges(of: id, in: [pending], resolver)
            laterChanges[id]?.remove(ended)
        }
    }

    /// Discards the cached changes: another record follows.
    mutating func forgetLaterChanges() { laterChanges = [:] }

    // MARK: Local changes

    /// Advances the merge bases after an operation was confirmed: its effect is not a change by another client, and the
    /// later pending operations were made after it.
    ///
    /// - Parameters:
    ///   - own: The entities that the operation touches.
    ///   - before: The entities before the operation was applied to the base.
    ///   - done: The entities after that, before the response was applied.
    ///   - images: The images in the response.
    ///   - isLate: Whether the operation was in doubt, so that other clients may have changed the entities since.
    mutating func advance(
        _ operation: Operation, of own: EntityIDs, _ before: PriorVersions, _ done: PriorVersions,
        _ images: [EntityImage], isLate: Bool
    ) throws(StateError) {
        if before.isEmpty, done.isEmpty { return }
        let shown = EntityIDs(images.lazy.map(\.entity))
        var changed = EntityIDs(before.keys)
        changed.formUnion(done.keys)
        for id in changed {
            if before[id] == nil, shown.contains(id), !own.contains(id) {
                // An additional entity in the response: a difference is a change by another client.
                try store(id, done[id] ?? nil)
            } else {
                try advance(
                    id, operation, from: before[id] ?? done[id] ?? nil, through: done[id] ?? nil, images,
                    isLate: isLate)
            }
        }
    }

    private mutating func advance(
        _ id: EntityID, _ operation: Operation, from then: MergeBase?, through done: MergeBase?,
        _ images: [EntityImage], isLate: Bool
    ) throws(StateError) {
        guard let index, let resolver, let now = try resolver.visible(id, index) else {
            return try storage.bookkeeping.removeMergeBase(id)
        }
        let done = done ?? now
        let known = try storage.bookkeeping.mergeBase(id)
        let own = images.filter { $0.entity == id }
        // A request with an If-Match fails if another client changed anything, so the whole response is the effect of
        // this operation. Changes of an entity that the response does not contain follow from those that it contains.
        let isConditional = operation.isConditional(on: id) && then?.row.etag != nil
        var mergeBase = known ?? (isConditional || own.isEmpty ? now : done)
        if known != nil {
            // A read may have shown the effect before, so that the confirmation changes nothing.
            let changes = try EntityChanges(by: operation, of: id, resolver)
            mergeBase = mergeBase.omitting(changes, index.constraints(ofDependentsIn: now.row.set))
        }
        let reported = Set(own.flatMap(\.values.names))
        // Without an ETag, nothing shows whether a value that is read later is the service's form of the sent one or
        // a change by another client. After a doubt, other clients had time for one, so the sent values count as stored.
        let isSent = isLate && operation.call == nil && !own.contains { $0.etag != nil }
        var unreadNames: Set<String> = []
        for name in operation.properties(of: id, before: then, done) {
            // The stored value is unknown until the service returns it: the service may truncate a text or round a
            // number. A read before the confirmation, for example of an operation in doubt, may have returned it.
            let isKnown = isSent || reported.contains(name) || then?.showsService(name, as: done) == true
            mergeBase.row.values[name] = isKnown ? now.row.values[name] : nil
            if !isKnown { unreadNames.insert(name) }
        }
        if own.isEmpty {
            for name in now.row.values.names where done.row.values[name] != now.row.values[name] {
                mergeBase.row.values[name] = now.row.values[name]
            }
        }
        mergeBase.links.removeAll { then?.partner($0) != now.partner($0) }
        // The later changes only determine which of the differences are kept. A merge base that only records unknown
        // values ends: this operation may have changed the ETag, so a read would not show whether another client has
        // changed them since.
        guard !unreadNames.isEmpty || mergeBase.differs(from: now) else {
            if known != nil { try storage.bookkeeping.removeMergeBase(id) }
            return
        }
        let later = try self.laterChanges(of: id, resolver)
        // Other changes in the response may be side effects of this operation.
        if known == nil { mergeBase = mergeBase.restricted(to: later) }
        if mergeBase.differs(from: now) || unreadNames.contains(where: later.names) {
            try storage.bookkeeping.putMergeBase(mergeBase)
        } else if known != nil {
            try storage.bookkeeping.removeMergeBase(id)
        }
    }

    /// Advances the merge bases after an operation was confirmed whose effects a download has shown: the later pending
    /// operations were made after it, and a download with other values shows changes by other clients.
    func advance(_ operation: Operation, beyond shown: Set<ShownEffect>) throws(StateError) {
        guard try storage.bookkeeping.hasMergeBases(), let index, let resolver else { return }
        for id in Set(operation.referencedEntities).sorted() {
            guard var mergeBase = try storage.bookkeeping.mergeBase(id), let now = try resolver.visible(id, index)
            else { continue }
            for effect in operation.sentEffects where shown.contains(effect) {
                if effect.target != nil {
                    try mergeBase.apply(effect, of: operation, resolver)
                } else if effect.entity == id, case .update(_, let changes, _) = operation.action {
                    mergeBase.row.values[effect.name] = changes[effect.name]
                }
            }
            if mergeBase.differs(from: now) {
                try storage.bookkeeping.putMergeBase(mergeBase)
            } else {
                try storage.bookkeeping.removeMergeBase(id)
            }
        }
    }

    /// Advances the merge bases of the entities that a new operation changes: the app has seen their current values.
    /// Items that earlier pending operations change keep their merge base.
    func advance(for operation: Operation) throws(StateError) {
        guard try storage.bookkeeping.hasMergeBases(), let index, let resolver else { return }
        for id in Set(operation.referencedEntities).sorted() where operation.changes(id) {
            guard var mergeBase = try storage.bookkeeping.mergeBase(id), let now = try resolver.visible(id, index)
            else { continue }
            var earlier = try EarlierChanges(of: id, resolver)
            let changes = try EntityChanges(by: operation, of: id, resolver)
            for name in changes.deletes ? Set(now.row.values.names) : changes.properties
            where mergeBase.row.values[name] != now.row.values[name] {
                if try !earlier.names(name) { mergeBase.row.values[name] = now.row.values[name] }
            }
            for (position, end) in mergeBase.links.enumerated()
            where changes.deletes || changes.ends.contains(where: { $0.end.isSameEnd(end) }) {
                guard let partner = now.partner(end), partner != end, try !earlier.decides(end) else { continue }
                mergeBase.links[position] = partner
            }
            if mergeBase.differs(from: now) {
                try storage.bookkeeping.putMergeBase(mergeBase)
            } else {
                try storage.bookkeeping.removeMergeBase(id)
            }
        }
    }

    /// Removes the merge bases of entities without pending changes.
    func discard(of ids: @autoclosure () -> [EntityID]) throws(StateError) {
        guard try storage.bookkeeping.hasMergeBases() else { return }
        for id in ids() where try storage.bookkeeping.mergeBase(id) != nil {
            if try !storage.hasPendingChange(of: id) { try storage.bookkeeping.removeMergeBase(id) }
        }
    }

    // MARK: Resolution

    /// Keeps merge bases for drafts and for operations in flight or in doubt only: a resolution concerns the other
    /// operations to be sent. Drafts are compared when they are released.
    func keepUndecided(of id: EntityID) throws(StateError) {
        guard let known = try storage.bookkeeping.mergeBase(id) else { return }
        let pending = try storage.pendingChanges(of: id)
        let kept = pending.filter { $0.operation.delivery == .draft || $0.isUnsettled }
        guard !kept.isEmpty, let index, let resolver, let now = try resolver.visible(id, index) else {
            return try storage.bookkeeping.removeMergeBase(id)
        }
        var left = known.leftForDrafts(
            try EntityChanges(of: id, in: kept, resolver),
            decided: try EntityChanges(of: id, in: pending.filter(\.isDecidable), resolver), now: now)
        // These properties were not compared.
        for name in try EntityChanges(of: id, in: pending.filter(\.isUnsettled), resolver).properties {
            left.row.values[name] = known.row.values[name]
        }
        if left.differs(from: now) {
            try storage.bookkeeping.putMergeBase(left)
        } else {
            try storage.bookkeeping.removeMergeBase(id)
        }
    }

}

extension MergeBase {
    /// Sets the partner at the to-one end of a link that an operation set or removed.
    fileprivate mutating func apply(
        _ effect: ShownEffect, of operation: Operation, _ resolver: EntityResolver<WorkingSet>
    ) throws(StateError) {
        guard let target = effect.target,
            let end = try resolver.navigation(effect.name, of: effect.entity, in: operation)?.navigation
        else { return }
        let isRemoved = if case .deleteLink = operation.action { true } else { false }
        var isFirst = end.relationship.isForward
        var partner = isRemoved ? nil : target
        if effect.entity == id {
            // The value is known only to the service, which derives it from the link.
            for constraint in end.constraints { row.values[constraint.dependent] = nil }
        } else if target == id {
            for constraint in end.inverseConstraints { row.values[constraint.dependent] = nil }
            isFirst = !isFirst
            partner = isRemoved ? nil : effect.entity
        } else {
            return
        }
        let link = Link(relationship: end.relationship.name, isFirst: isFirst, partner: partner)
        for position in links.indices where links[position].isSameEnd(link) { links[position] = link }
    }
}

extension Operation {
    /// Whether the request contains the ETag of the entity, if it has one.
    fileprivate func isConditional(on id: EntityID) -> Bool {
        switch action {
        case .update(let entity, _, _), .delete(let entity): entity == id
        case .create, .createLink, .updateLink, .deleteLink: false
        }
    }

    /// Returns the properties of the entity that the operation set, directly or as a consequence.
    fileprivate func properties(of id: EntityID, before: MergeBase?, _ done: MergeBase) -> Set<String> {
        var names = Set(done.row.values.names.filter { before?.row.values[$0] != done.row.values[$0] })
        if case .update(id, let changes, _) = action { names.formUnion(changes.names) }
        return names
    }
}
