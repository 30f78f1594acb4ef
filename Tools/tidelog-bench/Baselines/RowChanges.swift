internal import CSQLite
internal import Views

/// The rows of a table that differ between two files of views, as bound values of a statement.
struct RowChanges {
    enum Cell {
        case null
        case integer(Int64)
        case real(Double)
        /// A range of ``RowChanges/bytes``.
        case text(Int, Int)
        case blob(Int, Int)
    }

    let statement: String
    /// The statement for a row that the first one did not write.
    let replacement: String?
    let width: Int
    private(set) var cells: [Cell] = []
    /// The texts and bytes of all cells, never empty.
    private(set) var bytes: [UInt8] = [0]

    var count: Int { cells.count / width }

    /// Returns the changes of all tables.
    static func all(from start: String, to end: String) throws -> [RowChanges] {
        let state = try StoredViews.open(end)
        let connection = state.connection
        try connection.run("ATTACH ? AS before", [.text(start)])
        let layouts = Dictionary(uniqueKeysWithValues: state.rowTables.layouts.values.map { ($0.unquotedTable, $0) })
        var changes: [RowChanges] = []
        let tables = try StoredViews.texts(
            "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'",
            in: connection)
        for name in tables {
            let table = "\"\(name)\""
            let info = "FROM pragma_table_info('\(name)')"
            let columns = try StoredViews.texts("SELECT name \(info)", in: connection).count
            let keys = try StoredViews.texts("SELECT name \(info) WHERE pk > 0 ORDER BY pk", in: connection)
            let marks = [String](repeating: "?", count: columns).joined(separator: ", ")
            var written = RowChanges(
                statement: layouts[name]?.upsert ?? "INSERT OR REPLACE INTO \(table) VALUES (\(marks))",
                replacement: layouts[name]?.replace, width: columns)
            try written.add("SELECT * FROM main.\(table) EXCEPT SELECT * FROM before.\(table)", connection)
            let key = keys.map { "\"\($0)\"" }.joined(separator: ", ")
            var removed = RowChanges(
                statement: "DELETE FROM \(table) WHERE "
                    + keys.map { "\"\($0)\" = ?" }.joined(separator: " AND "),
                replacement: nil, width: keys.count)
            try removed.add("SELECT \(key) FROM before.\(table) EXCEPT SELECT \(key) FROM main.\(table)", connection)
            changes += [removed, written].filter { $0.count > 0 }
        }
        return changes
    }

    private init(statement: String, replacement: String?, width: Int) {
        self.statement = statement
        self.replacement = replacement
        self.width = width
    }

    private mutating func add(_ query: String, _ connection: Connection) throws {
        try connection.query(query) { row in
            for column in 0..<width { add(row[column]) }
        }
    }

    private mutating func add(_ value: SQLValue) {
        switch value {
        case .null: cells.append(.null)
        case .integer(let number): cells.append(.integer(number))
        case .real(let number): cells.append(.real(number))
        case .text(let text):
            cells.append(.text(bytes.count, text.utf8.count))
            bytes.append(contentsOf: text.utf8)
        case .blob(let blob):
            cells.append(.blob(bytes.count, blob.count))
            bytes.append(contentsOf: blob)
        }
    }
}

/// A copy of a store's views, to which rows are written by SQLite alone.
final class RowWriter {
    /// Keeps the file open, with the settings of the store.
    private let state: SQLiteState
    private let changes: [RowChanges]
    private var statements: [(write: OpaquePointer, replace: OpaquePointer?)] = []

    init(_ path: String, _ changes: [RowChanges]) throws {
        state = try StoredViews.open(path)
        self.changes = changes
        for change in changes {
            let write = try StoredViews.prepare(change.statement, state)
            statements.append((write, nil))
            if let replacement = change.replacement {
                statements[statements.count - 1].replace = try StoredViews.prepare(replacement, state)
            }
        }
    }

    deinit {
        for (write, replace) in statements {
            sqlite3_finalize(write)
            sqlite3_finalize(replace)
        }
    }

    /// Writes a part of the rows of each table in one transaction.
    func write(part: Int = 0, of parts: Int = 1) throws {
        try state.connection.execute("BEGIN IMMEDIATE")
        for (change, statement) in zip(changes, statements) {
            for row in change.count * part / parts..<change.count * (part + 1) / parts {
                try run(statement.write, change, row)
                if let replace = statement.replace, sqlite3_changes(state.connection.rawHandle) == 0 {
                    try run(replace, change, row)
                }
            }
        }
        try state.connection.execute("COMMIT")
    }

    private func run(_ statement: OpaquePointer, _ change: RowChanges, _ row: Int) throws {
        let result = change.bytes.withUnsafeBytes { bytes in
            for place in 0..<change.width {
                let index = Int32(place + 1)
                switch change.cells[row * change.width + place] {
                case .null: sqlite3_bind_null(statement, index)
                case .integer(let number): sqlite3_bind_int64(statement, index, number)
                case .real(let number): sqlite3_bind_double(statement, index, number)
                case .text(let start, let count):
                    sqlite3_bind_text64(
                        statement, index, bytes.bindMemory(to: CChar.self).baseAddress.map { $0 + start },
                        UInt64(count), nil, UInt8(SQLITE_UTF8))
                case .blob(let start, let count):
                    sqlite3_bind_blob64(statement, index, bytes.baseAddress.map { $0 + start }, UInt64(count), nil)
                }
            }
            let result = sqlite3_step(statement)
            sqlite3_reset(statement)
            return result
        }
        guard result == SQLITE_DONE else { throw Failure("SQLite does not write a row: error \(result).") }
    }
}
