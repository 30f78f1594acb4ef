import Operations

/// The former content of each place that a deferred transaction changes, for its rollback.
struct ChangeJournal {
    enum Change {
        case row(EntityID, RowTable.Found)
        case link(TouchedItems.LinkEnds, LinkTable.Found)
        /// Nil if the working set had neither a base state nor the removal of one.
        case base(EntityID, BaseState??)
        case key(TouchedItems.Key, EntityID?)
        case registration(EntityID)
    }

    /// In the order in which they were made; a place may be there several times.
    private(set) var changes: [Change] = []
    let header: StateHeader?
    let isHeaderChanged: Bool

    init(header: StateHeader?, isHeaderChanged: Bool) {
        self.header = header
        self.isHeaderChanged = isHeaderChanged
    }

    mutating func note(_ change: Change) { changes.append(change) }
}
