import Operations
import SyncCore

/// The sets of all registered entities, as runs of consecutive entity IDs of one set. Downloads assign consecutive IDs.
///
/// The last run is cached while a transaction extends it, and written by ``flush()``. Not `Sendable`: it belongs to the
/// state's connection.
final class EntitySetRanges {
    private struct Run {
        let first: UInt64
        var last: UInt64
        let set: String

        func contains(_ id: UInt64) -> Bool { first <= id && id <= last }
    }

    private let connection: Connection
    private let sets: InternedNames
    /// The last run, or nil if it was not read. Only registrations need it.
    private var tail: Run?
    private var isTailChanged = false
    /// A few cached runs. They stay valid because a run only grows.
    private var recent: [Run] = []
    private var oldest = 0
    private static let recentLimit = 8

    private let at = Statement(
        "SELECT first, last, set_number FROM entities WHERE first <= ? ORDER BY first DESC LIMIT 1")
    private let put = Statement("INSERT OR REPLACE INTO entities VALUES (?, ?, ?)")

    init(_ connection: Connection, sets: InternedNames) {
        self.connection = connection
        self.sets = sets
    }

    func set(of id: EntityID) throws(SQLiteError) -> String? {
        let id = id.rawValue
        if let tail, tail.first <= id { return id <= tail.last ? tail.set : nil }
        for run in recent where run.contains(id) { return run.set }
        guard let run = try run(before: id), run.contains(id) else { return nil }
        remember(run)
        return run.set
    }

    /// Returns the highest entity that has a set.
    func last() throws(SQLiteError) -> EntityID? {
        let last = if let tail { tail } else { try run(before: UInt64(Int64.max)) }
        return last.map { EntityID(rawValue: $0.last) }
    }

    /// Registers an entity. Has no effect if the entity has a set.
    func register(_ id: EntityID, set: String) throws(SQLiteError) {
        // SQLite's integers are signed, and IDs are counted up from 1.
        guard let id = Int64(exactly: id.rawValue).map(UInt64.init) else { return }
        if tail == nil { tail = try run(before: UInt64(Int64.max)) }
        if let tail, id <= tail.last { return try insert(id, set, before: tail) }
        if let last = tail?.last, last &+ 1 == id, tail?.set == set {
            tail?.last = id
        } else {
            try flush()
            if let tail { remember(tail) }
            tail = Run(first: id, last: id, set: set)
        }
        isTailChanged = true
        if !connection.isInTransaction { try flush() }
    }

    /// Registers an ID below the last run.
    private func insert(_ id: UInt64, _ set: String, before tail: Run) throws(SQLiteError) {
        guard id < tail.first else { return }
        for run in recent where run.contains(id) { return }
        guard var run = try run(before: id) else { return try write(Run(first: id, last: id, set: set)) }
        guard !run.contains(id) else { return remember(run) }
        if run.last &+ 1 == id, run.set == set {
            run.last = id
            try write(run)
        } else {
            try write(Run(first: id, last: id, set: set))
        }
    }

    /// Writes the cached run.
    func flush() throws(SQLiteError) {
        guard isTailChanged, let tail else { return }
        try write(tail)
        isTailChanged = false
    }

    /// Discards the cached runs after a rollback.
    func invalidate() { (tail, isTailChanged, recent, oldest) = (nil, false, [], 0) }

    private func remember(_ run: Run) {
        if recent.count < Self.recentLimit { return recent.append(run) }
        recent[oldest] = run
        oldest = (oldest + 1) % Self.recentLimit
    }

    /// Returns the last run that starts at or before the ID.
    private func run(before id: UInt64) throws(SQLiteError) -> Run? {
        var found: (first: Int64, last: Int64, set: Int64)?
        try connection.untraced { () throws(SQLiteError) in
            try connection.eachRow(at, { $0.integer(Int64(clamping: id)) }) { row in
                found = (row.integer(0), row.integer(1), row.integer(2))
            }
        }
        guard let found, let set = try sets.name(found.set) else { return nil }
        return Run(first: UInt64(bitPattern: found.first), last: UInt64(bitPattern: found.last), set: set)
    }

    private func write(_ run: Run) throws(SQLiteError) {
        let set = try sets.numbered(run.set)
        try connection.run(put) { binding in
            binding.integer(Int64(bitPattern: run.first))
            binding.integer(Int64(bitPattern: run.last))
            binding.integer(set)
        }
    }
}
