package import Operations
package import SyncCore

/// Passes over the whole state, a row at a time. Each pass follows an index, so nothing is sorted or collected in
/// memory.
extension SQLiteState {
    package func forEachEntity(_ body: (EntityID, String) throws -> Void) throws {
        try mapped(flush)
        try eachRow("SELECT first, last, name FROM entities JOIN sets ON id = set_number ORDER BY first") { row in
            let set = row.text(2) ?? ""
            let (first, last) = (row.unsigned(0), row.unsigned(1))
            guard first <= last else { return }
            for number in first...last { try body(EntityID(rawValue: number), set) }
        }
    }

    package func forEachKey(_ body: (String, String, EntityID) throws -> Void) throws {
        let sql = "SELECT name, key, entity FROM sets CROSS JOIN keys ON set_number = id ORDER BY name, key"
        try eachRow(sql) { try body($0.text(0) ?? "", $0.text(1) ?? "", $0.entity(2)) }
    }

    package func forEachRow(_ body: (EntityRow) throws -> Void) throws {
        for set in rowTables.layouts.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            try eachRow("SELECT \(RowTables.columns) FROM \(try rowTables.layout(set).table) ORDER BY entity") { row in
                try body(try rowTables.entityRow(row, set: set))
            }
        }
    }

    package func forEachBase(_ body: (EntityID, BaseState) throws -> Void) throws {
        try eachRow("SELECT \(Self.baseColumns) FROM bases ORDER BY entity") { row in
            try body(row.entity(0), try base(row))
        }
    }

    package func forEachLink(_ body: (LinkRow) throws -> Void) throws {
        let sql = """
            SELECT \(StoredLinks.columns) FROM relationships CROSS JOIN links ON relationship = id ORDER BY name, first, second
            """
        try eachRow(sql) { try body(try links.link($0)) }
    }
}
