import Operations

/// Reads the units of the queue in planning order, page by page. A planner that stops early has read at most one page
/// too many.
struct QueueWalk {
    private let resolver: EntityResolver<WorkingSet>
    private var tracker: LinkTracker<WorkingSet>
    /// The beginning of the next page.
    private var position: SequenceNumber = 0
    private var units: ArraySlice<TransactionUnit> = []
    private let pageSize: Int
    private let coalescing: Coalescing?
    /// Operations that cancel each other out and are not sent.
    private(set) var elided: [SequenceNumber] = []

    init(_ resolver: EntityResolver<WorkingSet>, pageSize: Int = 256, coalescing: Coalescing? = nil) {
        self.resolver = resolver
        self.pageSize = pageSize
        self.coalescing = coalescing
        tracker = LinkTracker(resolver)
    }

    /// Returns the next unit, or nil at the end.
    mutating func next() throws(StateError) -> TransactionUnit? {
        // If a page cancels out completely, more of the queue may follow.
        while units.isEmpty {
            guard try readPage() else { return nil }
        }
        return units.popFirst()
    }

    /// Reads the next page. Returns false at the end of the queue.
    private mutating func readPage() throws(StateError) -> Bool {
        let page = try wholePage()
        guard let last = page.last else { return false }
        position = last.sequence + 1
        try resolver.prefetch(page)
        let found = try Self.units(of: page, resolver, &tracker)
        guard var coalescing else {
            units = found[...]
            return true
        }
        units = try coalescing.coalesced(found)[...]
        elided += coalescing.elided
        return true
    }

    /// Returns the units of these operations, in an order that respects every dependency.
    static func units(
        of operations: [PendingOperation], _ resolver: EntityResolver<WorkingSet>,
        _ tracker: inout LinkTracker<WorkingSet>
    ) throws(StateError) -> [TransactionUnit] {
        var found: [TransactionUnit] = []
        found.reserveCapacity(operations.count)
        for operations in PendingOperation.units(operations) {
            guard operations.count > 1 else {
                found.append(try unit(operations, resolver, &tracker))
                continue
            }
            for part in operations.separated { found.append(try unit(part, resolver, &tracker)) }
        }
        return TransactionUnits.arranged(found)
    }

    private static func unit(
        _ operations: [PendingOperation], _ resolver: EntityResolver<WorkingSet>,
        _ tracker: inout LinkTracker<WorkingSet>
    ) throws(StateError) -> TransactionUnit {
        var unit = TransactionUnit(operations: operations)
        // Local-only operations do not exist for the service: they have no order, and no operation waits for them.
        for pending in operations {
            unit.footprints.append(
                pending.operation.delivery == .localOnly
                    ? OperationFootprint() : try resolver.footprint(pending.operation, &tracker))
        }
        return unit
    }

    /// Reads a page that splits no unit: it extends to the end of its last change set and to the last member of each of
    /// its transactions.
    private func wholePage() throws(StateError) -> [PendingOperation] {
        let storage = resolver.storage
        var page = try storage.pendingOperations(from: position, limit: pageSize)
        var transactions: Set<String> = []
        var end: SequenceNumber = 0
        var looked = 0
        while let last = page.last {
            for place in looked..<page.count {
                if page[place].status.kind == .rejected, looked < Self.fixReach, let fix = try lastFix(of: page[place])
                {
                    end = max(end, fix)
                }
                guard let name = page[place].operation.transactionID, transactions.insert(name).inserted else {
                    continue
                }
                end = max(end, try storage.lastPending(inTransaction: name) ?? 0)
            }
            looked = page.count
            let changeSet = last.operation.changeSet
            guard last.sequence < end || changeSet != nil else { break }
            let further = try storage.pendingOperations(from: last.sequence + 1, limit: pageSize)
            page += further.prefix { $0.sequence <= end || (changeSet != nil && $0.operation.changeSet == changeSet) }
            if page.count == looked { break }
        }
        return page
    }

    /// The number of operations up to which a page grows because of operations that amend rejected ones.
    private static var fixReach: Int { 4_096 }

    /// Returns the last operation that may amend this one, which the service rejected.
    private func lastFix(of pending: PendingOperation) throws(StateError) -> SequenceNumber? {
        guard coalescing != nil else { return nil }
        return try resolver.storage.pendingOperations(naming: pending.operation.subject).last
    }
}

extension [PendingOperation] {
    /// The client-only operations of a change set, separated from those that are sent.
    fileprivate var separated: [[PendingOperation]] {
        let own = filter { $0.operation.delivery == .localOnly }
        if own.isEmpty || own.count == count { return [self] }
        return [filter { $0.operation.delivery != .localOnly }, own]
    }
}
