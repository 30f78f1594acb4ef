import Operations

/// The units of the queue in the order in which they are to be looked at, read a page at a time: whoever stops early has
/// read no more than a page beyond.
struct QueueWalk<Storage: StateReader> {
    private let resolver: EntityResolver<Storage>
    private var tracker: LinkTracker<Storage>
    /// Where the next page begins.
    private var position: SequenceNumber = 0
    private var units: ArraySlice<PlannedUnit> = []
    private let pageSize: Int
    private let coalescing: Coalescing<Storage>?
    /// Operations that cancel each other out, so that nothing of them has to be sent.
    private(set) var elided: [SequenceNumber] = []

    init(_ resolver: EntityResolver<Storage>, pageSize: Int = 256, coalescing: Coalescing<Storage>? = nil) {
        self.resolver = resolver
        self.pageSize = pageSize
        self.coalescing = coalescing
        tracker = LinkTracker(resolver)
    }

    /// Nil behind the last one.
    mutating func next() throws(StateError) -> PlannedUnit? {
        if units.isEmpty { try readPage() }
        return units.popFirst()
    }

    private mutating func readPage() throws(StateError) {
        let page = try wholePage()
        guard let last = page.last else { return }
        position = last.sequence + 1
        try resolver.learn(page)
        units = try Self.units(of: page, resolver, &tracker)[...]
        guard var coalescing else { return }
        units = try coalescing.coalesced(Array(units))[...]
        elided += coalescing.elided
        // A page that cancelled itself out is not the end of the queue.
        if units.isEmpty { try readPage() }
    }

    /// The units of these operations, in an order that keeps every dependency.
    static func units(
        of operations: [PendingOperation], _ resolver: EntityResolver<Storage>, _ tracker: inout LinkTracker<Storage>
    ) throws(StateError) -> [PlannedUnit] {
        var found: [PlannedUnit] = []
        for operations in PendingOperation.units(operations) {
            var unit = PlannedUnit(operations: operations)
            // What no service is told of is nothing to it: it orders nothing and is waited for by nobody.
            for pending in operations {
                guard pending.operation.delivery != .localOnly else {
                    unit.footprints.append(OperationFootprint())
                    continue
                }
                unit.footprints.append(try resolver.footprint(pending.operation, &tracker))
            }
            found.append(unit)
        }
        return TransactionUnits.arranged(found)
    }

    /// A page that tears nothing apart: up to the end of its last change set, and up to the last member of each transaction
    /// in it. Then nothing that is arranged with it is behind it.
    private func wholePage() throws(StateError) -> [PendingOperation] {
        let storage = resolver.storage
        var page = try storage.pendingOperations(from: position, limit: pageSize)
        var transactions: Set<String> = []
        var end: SequenceNumber = 0
        var looked = 0
        while let last = page.last {
            for pending in page[looked...] {
                if let fix = try lastFix(of: pending), looked < Self.fixReach { end = max(end, fix) }
                guard let name = pending.operation.transactionID, transactions.insert(name).inserted else { continue }
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

    /// How far a page may grow because of operations that mend refused ones.
    private static var fixReach: Int { 4_096 }

    /// The last operation that may mend this one, where the service refused it.
    private func lastFix(of pending: PendingOperation) throws(StateError) -> SequenceNumber? {
        guard coalescing != nil, case .rejected = pending.status else { return nil }
        return try resolver.storage.pendingOperations(naming: pending.operation.subject).last
    }
}
