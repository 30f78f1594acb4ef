import Operations

/// The undo log of a deferred transaction: the former content of each place that it changes.
struct ChangeJournal {
    enum Change {
        case row(EntityID, RowTable.Found)
        case link(DirtyItems.LinkEnds, LinkTable.Found)
        /// Nil if the working set contained neither a base state nor the removal of one.
        case base(EntityID, BaseState??)
        case key(DirtyItems.Key, EntityID?)
        case registration(EntityID)
    }

    /// The changes in order; a place may occur several times.
    private(set) var changes: [Change] = []
    let header: CachedHeader

    init(_ header: CachedHeader) {
        self.header = header
        // One operation has several changes.
        changes.reserveCapacity(8)
    }

    mutating func append(_ change: Change) { changes.append(change) }

    /// Restores the former content.
    func rollBack(_ set: WorkingSet) {
        for change in changes.reversed() {
            switch change {
            case .row(let id, let former): set.rowTable.restore(id, to: former)
            case .link(let key, let former): set.linkTable.restore(key, to: former)
            case .base(let id, let former?): set.bases.updateValue(former, for: id)
            case .base(let id, nil): set.bases.removeValue(for: id)
            case .key(let key, let former): set.keys[key] = former
            case .registration(let id): set.register.remove(id)
            }
        }
        set.cachedHeader = header
    }
}
