public import EDM
import Operations

/// The state that the fold works on: in memory, over a storage that has the rest of it.
///
/// What changes is kept here and read from here first; everything else is read from the backing. ``flush()`` writes the changes
/// to the backing, in its order, inside of the backing's transaction. Without a backing the working set is the whole state: for
/// replay, for pasts, and as the measure of one that has a backing.
///
/// Not `Sendable`: it belongs to one actor, one call at a time.
public final class WorkingSet: StateStorage {
    typealias LinkKey = TouchedItems.LinkEnds
    typealias SetKey = TouchedItems.Key

    /// Nil if this is the whole state.
    public let backing: (any StateBacking)?
    /// Undone operations, queries and so on are few, or changed a page at a time: a backing keeps them itself.
    let bookkeeping: any BookkeepingStorage
    let queue: QueueTable
    /// How many items may be changed before they are written to the backing, also inside of a transaction.
    public var flushLimit = 20_000

    /// Nil if it was not read yet.
    var knownHeader: StateHeader?
    var isHeaderChanged = false
    var rowTable = RowTable()
    var linkTable = LinkTable()
    var register = EntityRegister()
    var keys: [SetKey: EntityID] = [:]
    /// Nil for one that is removed from what is below.
    var bases = IDTable<BaseState?>()
    /// The lowest entity of which the backing has nothing, nor of any that follow. Nil if it was not read yet.
    private var knownFirstUnused: EntityID?
    /// Nil if it is not known.
    var knownHasAncestors: Bool?

    /// Which transaction is running.
    enum Phase {
        case idle
        /// One of the backing, which takes every flush.
        case storing
        /// One in memory; see ``deferredTransaction(_:)``.
        case deferring
    }

    var phase = Phase.idle
    /// The changes of the deferred transaction; nil while there is none.
    var journal: ChangeJournal?
    /// Whether the deferred transaction has asked for the backing.
    var isDeferralRefused = false

    /// Follows the state's digest.
    var tally: DigestTally
    /// Nil while nothing is noted.
    var touched: TouchedItems?
    /// How often a pending operation was asked for: for tests that count work.
    package var operationsRead = 0

    /// Creates an empty state in memory.
    ///
    /// - Parameter keepsDigest: whether ``digest`` is known at any time; costs a hash of each item that changes.
    public convenience init(keepsDigest: Bool = false) {
        self.init(nil, MemoryBookkeeping(), QueueTable(), DigestTally(isKept: keepsDigest))
        knownHeader = StateHeader()
    }

    /// Creates the working set of a state that the backing has.
    public convenience init(over backing: any StateBacking) {
        self.init(backing, backing, backing.queue, DigestTally(isKept: false))
    }

    private init(
        _ backing: (any StateBacking)?, _ bookkeeping: any BookkeepingStorage, _ queue: QueueTable, _ tally: DigestTally
    ) {
        self.backing = backing
        self.bookkeeping = bookkeeping
        self.queue = queue
        self.tally = tally
    }

    /// Returns the same state, to go on from by itself. Cheap: what neither changes stays shared.
    ///
    /// - Precondition: there is no backing.
    public func copy() -> WorkingSet {
        let own = (bookkeeping as? MemoryBookkeeping)?.copy() ?? MemoryBookkeeping()
        let copy = WorkingSet(nil, own, queue.copy(), tally)
        copy.knownHeader = knownHeader
        copy.rowTable = rowTable
        copy.linkTable = linkTable
        copy.register = register
        copy.keys = keys
        copy.bases = bases
        copy.touched = touched
        return copy
    }

    // MARK: Transactions

    /// Runs `body` in one transaction of the backing: all that it changes is stored, or nothing. What was gathered is committed
    /// first.
    public func transaction<T>(_ body: () throws -> T) throws -> T {
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

    /// Runs `body` in a transaction that further calls join, until ``commitGathered()``. If `body` throws, all that was gathered
    /// is rolled back.
    public func gathering<T>(_ body: () throws -> T) throws -> T {
        guard let backing else { return try body() }
        try flush()
        return try storing {
            try backing.gathering {
                let result = try body()
                try flush()
                return result
            }
        }
    }

    /// Commits what was gathered, if there is something. If that fails, all of it is rolled back.
    public func commitGathered() throws(StateError) {
        do {
            try backing?.commitGathered()
        } catch {
            forget()
            throw error
        }
    }

    /// Runs a transaction of the backing. If it fails, only what the backing has is left.
    private func storing<T>(_ body: () throws -> T) throws -> T {
        phase = .storing
        defer { phase = .idle }
        do {
            return try body()
        } catch {
            forget()
            throw error
        }
    }

    /// Forgets what is not written to the backing, and what was read from it.
    private func forget() {
        removeChanges()
        (knownHeader, isHeaderChanged, knownFirstUnused, knownHasAncestors) = (nil, false, nil, nil)
    }

    private func removeChanges() {
        rowTable.removeAll()
        linkTable.removeAll()
        register.removeAll()
        keys.removeAll(keepingCapacity: keys.count < 4_096)
        bases.removeAll()
    }

    /// How many items the backing does not have as they are here.
    package var changeCount: Int {
        rowTable.count + linkTable.count + register.count + keys.count + bases.count
    }

    /// Writes what has changed to the backing if it is much. Belongs between two records.
    func flushIfLarge() throws(StateError) {
        if backing != nil, changeCount >= flushLimit { try flush() }
    }

    /// Writes what has changed to the backing, in a transaction of its own if none is running.
    ///
    /// If that fails, only what the backing has is left, which then is behind the log.
    public func flush() throws(StateError) {
        guard let backing, hasChanges else { return }
        switch phase {
        case .storing: try write(to: backing)
        case .deferring: try requireBacking()
        case .idle:
            do {
                try storing { try backing.transaction { try write(to: backing) } }
            } catch {
                queue.forget()
                throw error as? StateError ?? StateError(.unavailable, "\(error)")
            }
        }
    }

    /// A record that changes the queue changes the header too.
    private var hasChanges: Bool { isHeaderChanged || changeCount > 0 }

    private func write(to backing: any StateBacking) throws(StateError) {
        if let knownHeader, isHeaderChanged { try backing.setHeader(knownHeader) }
        isHeaderChanged = false
        guard changeCount > 0 else { return }
        try register.forEach { id, set throws(StateError) in try backing.register(id, set: set) }
        for (key, id) in keys { try backing.assignKey(set: key.set, key: key.key, to: id) }
        try writeRows(to: backing)
        for id in bases.entities.sorted() {
            if let base = bases[id] ?? nil { try backing.saveBase(id, base) } else { try backing.removeBase(id) }
        }
        try writeLinks(to: backing)
        noteUsed()
        removeChanges()
    }

    /// By set and entity, so that each page of the backing is changed once.
    private func writeRows(to backing: any StateBacking) throws(StateError) {
        for id in rowTable.removed.sorted() { try backing.removeRow(id) }
        let bySet = Dictionary(grouping: rowTable.rows, by: \.set)
        for rows in bySet.values { for row in rows.sorted(by: { $0.id < $1.id }) { try backing.putRow(row) } }
    }

    private func writeLinks(to backing: any StateBacking) throws(StateError) {
        for key in linkTable.removed {
            try backing.removeLink(key.relationship, first: key.first, second: key.second)
        }
        let byRelationship = Dictionary(grouping: linkTable.links.values, by: \.relationship)
        for links in byRelationship.values {
            for link in links.sorted(by: { ($0.first, $0.second) < ($1.first, $1.second) }) {
                try backing.putLink(link)
            }
        }
    }

    private func noteUsed() {
        guard let known = knownFirstUnused else { return }
        var last = register.runs.last.map { EntityID(rawValue: $0.last) } ?? EntityID(rawValue: 0)
        for id in rowTable.entities { last = max(last, id) }
        for id in bases.entities { last = max(last, id) }
        for link in linkTable.links.keys { last = max(last, link.first, link.second) }
        // The highest number has none behind it.
        if last >= known { knownFirstUnused = EntityID(rawValue: max(last.rawValue, last.rawValue &+ 1)) }
    }

    /// Returns whether the backing may have something of the entity.
    func isBelow(_ id: EntityID) throws(StateError) -> Bool {
        guard let backing else { return false }
        if let knownFirstUnused { return id < knownFirstUnused }
        let first = try backing.firstUnusedEntity()
        knownFirstUnused = first
        return id < first
    }

    // MARK: Header and model

    public func header() throws(StateError) -> StateHeader {
        if let knownHeader { return knownHeader }
        let header = try backing?.header() ?? StateHeader()
        knownHeader = header
        return header
    }

    public func setHeader(_ header: StateHeader) throws(StateError) {
        if tally.isKept { tally.replace(try self.header(), by: header) }
        knownHeader = header
        isHeaderChanged = true
    }

    /// Changes the header in place.
    func changeHeader(_ body: (inout StateHeader) -> Void) throws(StateError) {
        if tally.isKept {
            var header = try header()
            body(&header)
            return try setHeader(header)
        }
        if knownHeader == nil { knownHeader = try header() }
        if var header = knownHeader.take() {
            body(&header)
            knownHeader = header
        }
        isHeaderChanged = true
    }

    public func install(_ model: EntityDataModel) throws(StateError) {
        if let backing {
            try requireBacking()
            try flush()
            try backing.install(model)
        }
        touched?.hasModel = true
        for row in rowTable.keep(Set(model.allSets.map(\.name))) { tally.replace(.row(row), by: nil) }
    }

    // MARK: Digest and changes

    /// That of ``StateDigest/init(of:)``, without a pass over the state; nil if it is not kept. While the pending operations
    /// are taken off, it is not the digest of a state that the log says.
    public var digest: StateDigest? { tally.digest }

    /// Returns what has changed since the last call, if the digest is kept; nothing is noted before the first one.
    public func takeChanges() -> [StateChange] { tally.takeChanges() }

    /// Notes what changes from now on; see ``writeTouched(into:)``.
    package func noteTouched() { touched = TouchedItems() }
}
