internal import CSQLite
internal import EDM
internal import Foundation
internal import Views

/// Views of a closed store, or copies of them, with the settings of the store.
enum StoredViews {
    static func open(_ path: String) throws -> SQLiteState {
        let file = try Connection(path: path, readOnly: true)
        let store = try file.first("SELECT store FROM header")?.first?.text
        file.close()
        return try SQLiteState(path: path, store: store ?? "")
    }

    /// Returns the first column of the rows.
    static func texts(_ sql: String, in connection: Connection) throws -> [String] {
        var texts: [String] = []
        try connection.query(sql) { texts.append($0.text(0) ?? "") }
        return texts
    }

    /// Returns a prepared statement, which the caller finalizes.
    static func prepare(_ sql: String, _ state: SQLiteState) throws -> OpaquePointer {
        var statement: OpaquePointer?
        let result = sqlite3_prepare_v3(
            state.connection.rawHandle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard result == SQLITE_OK, let statement else { throw Failure("SQLite: error \(result) in \(sql).") }
        return statement
    }
}
