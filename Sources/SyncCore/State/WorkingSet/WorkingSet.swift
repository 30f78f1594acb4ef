package import EDM
import Operations

/// The state on which the fold works: changes in memory, over a storage with the unchanged items.
///
/// Reads return the changed items of the working set, and all other items from the backing. ``flush()`` writes the
/// changes to the backing, in the order of its keys and within its transaction. Without a backing the working set is
/// the whole state: for a replay, for a historical store, and as the reference for a state with a backing.
///
/// Not `Sendable`: it belongs to one actor, one call at a time.
package final class WorkingSet: StateStorage {
    typealias LinkKey = DirtyItems.LinkEnds
    typealias SetKey = DirtyItems.Key

    /// The storage below, or nil if this is the whole state.
    package let backing: (any StateBacking)?
    package let bookkeeping: TrackedBookkeeping
    package let queue: QueueTable
    /// The maximum number of changed items before they are flushed, also within a transaction.
    package var flushLimit = 20_000
    /// The source of the models of the service's metadata.
    package var models = ModelSource.parser

    var cachedHeader = CachedHeader()
    var rowTable = RowTable()
    /// Kept from one deferred transaction to the next; empty after a transaction of the backing. Reads outside of a
    /// transaction do not use it.
    var cleanRows = CleanRowCache()
    var linkTable = LinkTable()
    var register = EntityRegister()
    var keys: [SetKey: EntityID] = [:]
    /// The saved base states. A nil value means that the base state in the backing is deleted.
    var bases = IDTable<BaseState?>()
    /// The lowest entity ID such that the backing contains no data of this or a higher ID; nil if it was not read yet.
    private var knownFirstUnused: EntityID?

    let tracking: StateTracking
    /// The lists of names of values that are encoded in memory.
    package private(set) lazy var names = NameTable()

    /// Creates an empty state in memory.
    ///
    /// - Parameter keepsDigest: Whether ``digest`` is maintained. Costs a hash for each changed item.
    package convenience init(keepsDigest: Bool = false) {
        let tracking = StateTracking(IncrementalDigest(isKept: keepsDigest))
        self.init(nil, TrackedBookkeeping(MemoryBookkeeping(), tracking), QueueTable(tracksChanges: false), tracking)
        cachedHeader.isKnown = true
    }

    /// Creates a working set over the state in a backing.
    package convenience init(over backing: any StateBacking) {
        let tracking = StateTracking(IncrementalDigest(isKept: false))
        self.init(backing, TrackedBookkeeping(backing.bookkeeping, tracking), backing.queue, tracking)
    }

    private init(
        _ backing: (any StateBacking)?, _ bookkeeping: TrackedBookkeeping, _ queue: QueueTable,
        _ tracking: StateTracking
    ) {
        self.backing = backing
        self.bookkeeping = bookkeeping
        self.queue = queue
        self.tracking = tracking
    }

    /// Returns an independent copy of the state. Cheap, because unchanged parts are shared.
    ///
    /// - Precondition: There is no backing.
    package func copy() -> WorkingSet {
        let tracking = StateTracking(tracking.digest, tracking.dirtyItems)
        let copy = WorkingSet(nil, bookkeeping.copy(tracking), queue.copy(), tracking)
        copy.models = models
        copy.cachedHeader = cachedHeader
        copy.rowTable = rowTable
        copy.linkTable = linkTable.copy()
        copy.register = register
        copy.keys = keys
        copy.bases = bases
        return copy
    }

    // MARK: Transactions

    /// Runs `body` in one transaction of the backing, atomically. An open ``inSharedTransaction(_:)`` transaction is
    /// committed first.
    package func transaction<T>(_ body: () throws -> T) throws -> T {
        guard let backing else { return try body() }
        try flush()
        return try storing {
            try backing.transaction {
                let result = try body()
                try flush()
                return result
            }
        }
    }

    /// Runs `body` in a transaction that later calls join, until ``commitSharedTransaction()``. If `body` throws, the
    /// whole transaction is rolled back.
    package func inSharedTransaction<T>(_ body: () throws -> T) throws -> T {
        guard let backing else { return try body() }
        try flush()
        return try storing {
            try backing.inSharedTransaction {
                let result = try body()
                try flush()
                return result
            }
        }
    }

    /// Commits the transaction of ``inSharedTransaction(_:)``, if one is open. If that fails, it is rolled back.
    package func commitSharedTransaction() throws(StateError) {
        do {
            try backing?.commitSharedTransaction()
        } catch {
            discardChanges()
            throw error
        }
    }

    /// Runs a transaction of the backing. If it fails, all changes that are not in the backing are discarded.
    private func storing<T>(_ body: () throws -> T) throws -> T {
        cleanRows.removeAll()
        tracking.phase = .storing
        defer {
            tracking.phase = .idle
            cleanRows.removeAll()
        }
        do {
            return try body()
        } catch {
            discardChanges()
            throw error
        }
    }

    /// Discards unflushed changes and cached items of the backing.
    private func discardChanges() {
        cleanRows.removeAll()
        removeChanges()
        (cachedHeader, knownFirstUnused) = (CachedHeader(), nil)
        bookkeeping.invalidateCaches()
    }

    private func removeChanges() {
        rowTable.removeAll()
        linkTable.removeAll()
        register.removeAll()
        keys.removeAll(keepingCapacity: keys.count < 4_096)
        bases.removeAll()
    }

    /// The number of items that differ from the backing.
    private var changeCount: Int {
        rowTable.count + linkTable.count + register.count + keys.count + bases.count
    }

    /// The number of items and pending operations that the backing has to write.
    package var unflushedCount: Int { changeCount + queue.changeCount }

    /// Flushes the changes if there are many. Must be called between two records.
    func flushIfLarge() throws(StateError) {
        if backing != nil, changeCount >= flushLimit { try flush() }
    }

    /// Writes the changes to the backing, in a transaction of its own if none is running.
    ///
    /// If that fails, the changes are discarded, and the state lacks the last records of the log.
    package func flush() throws(StateError) {
        guard let backing, hasChanges else { return }
        switch tracking.phase {
        case .storing: try write(to: backing)
        case .deferring: try tracking.requireBacking()
        case .idle:
            do {
                try storing { try backing.transaction { try write(to: backing) } }
            } catch {
                queue.invalidate()
                throw error as? StateError ?? StateError(.unavailable, "\(error)")
            }
        }
    }

    /// Whether the backing differs. A record that changes the queue also changes the header.
    private var hasChanges: Bool { cachedHeader.isChanged || changeCount > 0 }

    private func write(to backing: any StateBacking) throws(StateError) {
        if cachedHeader.isChanged { try backing.setHeader(cachedHeader.header) }
        cachedHeader.isChanged = false
        guard changeCount > 0 else { return }
        try register.forEach { id, set throws(StateError) in try backing.register(id, set: set) }
        if !keys.isEmpty { try backing.assignKeys(keys.byEntity) }
        try rowTable.write(to: backing)
        for id in bases.entities.sorted() {
            if let base = bases[id] ?? nil { try backing.saveBase(id, base) } else { try backing.removeBase(id) }
        }
        try linkTable.write(to: backing)
        cleanRows.remove(rowTable.entities)
        cleanRows.remove(rowTable.removed)
        recordUsed()
        removeChanges()
    }

    private func recordUsed() {
        guard let known = knownFirstUnused else { return }
        var last = register.runs.last.map { EntityID(rawValue: $0.last) } ?? EntityID(rawValue: 0)
        for id in rowTable.entities { last = max(last, id) }
        for id in bases.entities { last = max(last, id) }
        if let linked = linkTable.lastEntity { last = max(last, linked) }
        // The highest ID has no successor.
        if last >= known { knownFirstUnused = EntityID(rawValue: max(last.rawValue, last.rawValue &+ 1)) }
    }

    /// Returns whether the backing may contain the entity.
    func isBelow(_ id: EntityID) throws(StateError) -> Bool {
        if let knownFirstUnused { return id < knownFirstUnused }
        guard let backing else { return false }
        let first = try backing.firstUnusedEntity()
        knownFirstUnused = first
        return id < first
    }

    // MARK: Header and model

    package func header() throws(StateError) -> StateHeader {
        if cachedHeader.isKnown { return cachedHeader.header }
        let header = try backing?.header() ?? StateHeader()
        cachedHeader = CachedHeader(header: header, isKnown: true)
        return header
    }

    package func setHeader(_ header: StateHeader) throws(StateError) {
        if tracking.keepsDigest { tracking.digest.replace(try self.header(), by: header) }
        cachedHeader = CachedHeader(header: header, isKnown: true, isChanged: true)
    }

    /// Changes the header in place.
    ///
    /// - Parameter body: A function that must not use the working set, because it has exclusive access to the header.
    func changeHeader(_ body: (inout StateHeader) -> Void) throws(StateError) {
        if tracking.keepsDigest {
            var header = try header()
            body(&header)
            return try setHeader(header)
        }
        if !cachedHeader.isKnown { _ = try header() }
        cachedHeader.change(body)
    }

    package func install(_ model: EntityDataModel) throws(StateError) {
        if let backing {
            try tracking.requireBacking()
            try flush()
            try backing.install(model)
            cleanRows.removeAll()
        }
        tracking.dirtyItems?.hasModel = true
        for row in rowTable.retain(Set(model.allSets.map(\.name))) { tracking.digest.replace(.row(row), by: nil) }
    }

    // MARK: Digest and changes

    /// The digest as ``StateDigest/init(of:)`` computes it, without a pass over the state; nil if it is not maintained.
    /// While the pending operations are reverted, it is not the digest of a state of the log.
    package var digest: StateDigest? { tracking.digest.digest }

    /// Returns the changes since the last call, if the digest is maintained. The first call starts the tracking.
    package func drainChanges() -> [StateChange] { tracking.digest.drainChanges() }

    /// Starts to track changed items; see ``DirtyItemWriter/writeChanges(of:into:)``.
    package func trackDirtyItems() { tracking.startDirtyItems() }

    /// Returns the changed items, and restarts their tracking; nil if they are not tracked.
    func drainDirtyItems() -> DirtyItems? {
        defer { if tracking.dirtyItems != nil { tracking.dirtyItems = DirtyItems() } }
        return tracking.dirtyItems
    }
}

/// The header of a working set.
struct CachedHeader {
    fileprivate(set) var header = StateHeader()
    /// Whether ``header`` was read. The header is not optional, because a comparison with nil copies it.
    fileprivate(set) var isKnown = false
    /// Whether the header differs from the backing.
    fileprivate(set) var isChanged = false

    fileprivate mutating func change(_ body: (inout StateHeader) -> Void) {
        body(&header)
        isChanged = true
    }
}
