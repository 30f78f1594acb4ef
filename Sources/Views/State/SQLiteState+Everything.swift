public import Operations
public import SyncCore

/// Passes over the whole state, a row at a time. Each pass follows an index, so nothing is sorted or collected in
/// memory.
extension SQLiteState {
    public func forEachEntity(_ body: (EntityID, String) throws -> Void) throws {
        try mapped(flush)
        try each("SELECT first, last, name FROM entities JOIN sets ON id = set_number ORDER BY first") { row in
            let set = row.text(2) ?? ""
            let (first, last) = (id(row, 0).rawValue, id(row, 1).rawValue)
            guard first <= last else { return }
            for number in first...last { try body(EntityID(rawValue: number), set) }
        }
    }

    public func forEachKey(_ body: (String, String, EntityID) throws -> Void) throws {
        let sql = "SELECT name, key, entity FROM sets CROSS JOIN keys ON set_number = id ORDER BY name, key"
        try each(sql) { try body($0.text(0) ?? "", $0.text(1) ?? "", id($0, 2)) }
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
        let sql = """
            SELECT \(Self.linkColumns) FROM relationships CROSS JOIN links ON relationship = id ORDER BY name, first, second
            """
        try each(sql) { try body(try link($0)) }
    }

    public func forEachPending(_ body: (PendingOperation) throws -> Void) throws {
        var next: SequenceNumber = 0
        while true {
            let page = try pendingOperations(from: next, limit: 256)
            guard let last = page.last else { return }
            for pending in page { try body(pending) }
            next = last.sequence + 1
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

    public func forEachMergeBase(_ body: (MergeBase) throws -> Void) throws {
        try each("SELECT state FROM ancestors ORDER BY entity") { try body(try Self.mergeBase($0[0].blob ?? [])) }
    }

    public func forEachCoverage(_ body: (String, EntityID, SequenceNumber) throws -> Void) throws {
        do {
            try coverage.forEach(body)
        } catch let error as SQLiteError {
            throw Self.stateError(error)
        }
    }

    private func id(_ row: Row, _ column: Int) -> EntityID {
        EntityID(rawValue: UInt64(bitPattern: row.integer(column)))
    }

    private func each(_ sql: String, _ body: (Row) throws -> Void) throws {
        do {
            try connection.each(sql, [], body)
        } catch let error as SQLiteError {
            throw Self.stateError(error)
        }
    }
}
