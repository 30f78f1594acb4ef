public import Operations
public import SyncCore

/// The whole state, a row at a time: each pass walks along an index, so nothing is sorted or collected.
extension SQLiteState {
    public func forEachEntity(_ body: (EntityID, String) throws -> Void) throws {
        try each("SELECT id, set_name FROM entities ORDER BY id") { try body(id($0, 0), $0.text(1) ?? "") }
    }

    public func forEachKey(_ body: (String, String, EntityID) throws -> Void) throws {
        try each("SELECT set_name, key, entity FROM keys ORDER BY set_name, key") {
            try body($0.text(0) ?? "", $0.text(1) ?? "", id($0, 2))
        }
    }

    public func forEachRow(_ body: (EntityRow) throws -> Void) throws {
        for set in layouts.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            try each("SELECT \(Self.rowColumns) FROM \(try layout(set).table) ORDER BY entity") { row in
                try body(try entityRow(row, set: set))
            }
        }
    }

    public func forEachBase(_ body: (EntityID, BaseState) throws -> Void) throws {
        try each("SELECT \(Self.baseColumns) FROM bases ORDER BY entity") { row in
            try body(id(row, 0), try base(row))
        }
    }

    public func forEachLink(_ body: (LinkRow) throws -> Void) throws {
        try each("SELECT \(Self.linkColumns) FROM links ORDER BY relationship, first, second") {
            try body(link($0))
        }
    }

    public func forEachPending(_ body: (PendingOperation) throws -> Void) throws {
        try each("SELECT \(Self.pendingColumns) FROM pending ORDER BY sequence") { row in
            try body(try pending(row))
        }
    }

    public func forEachUndone(_ body: (UndoneOperation) throws -> Void) throws {
        try each("SELECT \(Self.undoneColumns) FROM undone ORDER BY sequence") { row in
            try body(try undone(row))
        }
    }

    public func forEachStreams(_ body: (EntityID, [StreamImage]) throws -> Void) throws {
        try each("SELECT entity, state FROM streams ORDER BY entity") {
            try body(id($0, 0), try Self.streams($0[1].blob ?? []))
        }
    }

    public func forEachAncestor(_ body: (Ancestor) throws -> Void) throws {
        try each("SELECT state FROM ancestors ORDER BY entity") { try body(try Self.ancestor($0[0].blob ?? [])) }
    }

    public func forEachCoverage(_ body: (String, EntityID, SequenceNumber) throws -> Void) throws {
        try each("SELECT query, entity, run FROM coverage ORDER BY query, entity") {
            try body($0.text(0) ?? "", id($0, 1), UInt64(bitPattern: $0.integer(2)))
        }
    }

    private func id(_ row: Row, _ column: Int) -> EntityID {
        EntityID(rawValue: UInt64(bitPattern: row.integer(column)))
    }

    /// Reads without mapping the file: the pages of a whole pass would count as the process's memory.
    private func each(_ sql: String, _ body: (Row) throws -> Void) throws {
        do {
            try connection.execute("PRAGMA mmap_size = 0")
            defer { try? connection.execute(Self.mapping) }
            try connection.each(sql, [], body)
        } catch let error as SQLiteError {
            throw Self.stateError(error)
        }
    }
}
