import Operations

/// The digest of a state that is being changed item by item, if it is enabled.
struct IncrementalDigest {
    /// Nil if the digest is disabled.
    private var sum: UInt64?
    private var journal: StateJournal?

    init(isKept: Bool) {
        // An empty state contains its header.
        sum = isKept ? StateHash.hash(.header(StateHeader())) : nil
    }

    var digest: StateDigest? { sum.map { StateDigest(value: $0) } }
    var isKept: Bool { sum != nil }

    /// Returns the changes since the last call. The first call starts the tracking.
    mutating func drainChanges() -> [StateChange] {
        defer { journal = StateJournal() }
        return journal?.differences ?? []
    }

    /// Replaces an item. The items are evaluated only if the digest is enabled.
    mutating func replace(
        _ old: @autoclosure () -> SnapshotItem?, by new: @autoclosure () -> SnapshotItem?
    ) {
        guard var sum else { return }
        let (old, new) = (old(), new())
        if let old { sum &-= StateHash.hash(old) }
        if let new { sum &+= StateHash.hash(new) }
        self.sum = sum
        journal?.append(old, new)
    }

    mutating func replace(_ old: StateHeader, by new: StateHeader) {
        guard isKept else { return }
        replace(old.withoutService, by: new.withoutService)
        // Compared separately, because the metadata may have several megabytes.
        if old.service != new.service {
            replace(old.service.map(SnapshotItem.service), by: new.service.map(SnapshotItem.service))
        }
    }

    /// Replaces the queries. The order in which they were added is part of the state.
    mutating func replace(_ old: [QueryState], by new: [QueryState]) {
        guard var sum else { return }
        for (place, query) in old.enumerated() { sum &-= StateHash.hash(.query(query), at: UInt64(place)) }
        for (place, query) in new.enumerated() { sum &+= StateHash.hash(.query(query), at: UInt64(place)) }
        self.sum = sum
    }

    mutating func replace(_ old: PendingOperation?, by new: PendingOperation?) {
        replace(old.map(SnapshotItem.pending), by: new.map(SnapshotItem.pending))
    }

    mutating func replace(_ old: UndoneOperation?, by new: UndoneOperation?) {
        replace(old.map(SnapshotItem.undone), by: new.map(SnapshotItem.undone))
    }
}

extension StateHeader {
    fileprivate var withoutService: SnapshotItem {
        var header = self
        header.service = nil
        return .header(header)
    }
}
