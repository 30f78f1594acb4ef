internal import CSQLite
internal import Views

/// Rows of a table that differ between two files of views, as bound values of a statement.
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
    /// The statement for many new rows, if the rows are new and the store has one for their table.
    private(set) var block: BlockInsertion?
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
        let tables = try StoredViews.texts(
            "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'",
            in: connection)
        return try tables.flatMap { try changes(of: $0, layouts[$0], connection) }.filter { $0.count > 0 }
    }

    /// Returns the rows of a table that were removed, those that were changed, and the new ones.
    private static func changes(
        of name: String, _ layout: TableLayout?, _ connection: Connection
    ) throws -> [RowChanges] {
        let table = "\"\(name)\""
        let info = "FROM pragma_table_info('\(name)')"
        let columns = try StoredViews.texts("SELECT name \(info)", in: connection).count
        let keys = try StoredViews.texts("SELECT name \(info) WHERE pk > 0 ORDER BY pk", in: connection)
            .map { "\"\($0)\"" }
        let key = keys.joined(separator: ", ")
        let marks = [String](repeating: "?", count: columns).joined(separator: ", ")
        let isStored =
            "EXISTS (SELECT 1 FROM before.\(table) AS b WHERE "
            + keys.map { "b.\($0) = a.\($0)" }.joined(separator: " AND ") + ")"
        var removed = RowChanges(
            statement: "DELETE FROM \(table) WHERE " + keys.map { "\($0) = ?" }.joined(separator: " AND "),
            width: keys.count)
        try removed.add("SELECT \(key) FROM before.\(table) EXCEPT SELECT \(key) FROM main.\(table)", connection)
        var changed = RowChanges(
            statement: layout?.upsert ?? "INSERT OR REPLACE INTO \(table) VALUES (\(marks))",
            replacement: layout?.replace, width: columns)
        var new = changed
        try changed.add(
            "SELECT * FROM main.\(table) AS a WHERE \(isStored) EXCEPT SELECT * FROM before.\(table)", connection)
        new.block =
            ["links", "keys"].contains(name) ? BlockInsertion(into: name, columns: columns) : layout?.blockInsertion
        try new.add("SELECT * FROM main.\(table) AS a WHERE NOT \(isStored) ORDER BY \(key)", connection)
        return [removed, changed, new]
    }

    private init(statement: String, replacement: String? = nil, width: Int) {
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
    private var statements: [(write: OpaquePointer, replace: OpaquePointer?, block: OpaquePointer?)] = []

    init(_ path: String, _ changes: [RowChanges]) throws {
        state = try StoredViews.open(path)
        self.changes = changes
        for change in changes {
            let write = try StoredViews.prepare(change.statement, state)
            statements.append((write, nil, nil))
            if let replacement = change.replacement {
                statements[statements.count - 1].replace = try StoredViews.prepare(replacement, state)
            }
            if let block = change.block {
                statements[statements.count - 1].block = try StoredViews.prepare(block.sql, state)
            }
        }
    }

    deinit {
        for (write, replace, block) in statements {
            sqlite3_finalize(write)
            sqlite3_finalize(replace)
            sqlite3_finalize(block)
        }
    }

    /// Writes a part of the rows of each table in one transaction.
    func write(part: Int = 0, of parts: Int = 1) throws {
        try state.connection.execute("BEGIN IMMEDIATE")
        for (change, statement) in zip(changes, statements) {
            var start = change.count * part / parts
            let end = change.count * (part + 1) / parts
            if let block = statement.block, let size = change.block?.size {
                while end - start >= size {
                    try run(block, change, start..<start + size)
                    guard sqlite3_changes(state.connection.rawHandle) == size else {
                        throw Failure("SQLite skips a new row.")
                    }
                    start += size
                }
            }
            for row in start..<end {
                try run(statement.write, change, row..<row + 1)
                if let replace = statement.replace, sqlite3_changes(state.connection.rawHandle) == 0 {
                    try run(replace, change, row..<row + 1)
                }
            }
        }
        try state.connection.execute("COMMIT")
    }

    private func run(_ statement: OpaquePointer, _ change: RowChanges, _ rows: Range<Int>) throws {
        let result = change.bytes.withUnsafeBytes { bytes in
            for place in 0..<rows.count * change.width {
                let index = Int32(place + 1)
                switch change.cells[rows.lowerBound * change.width + place] {
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
