import SyncCore

/// A table of interned names, with columns `id` and `name`. Rows of other tables refer to a name by its number.
///
/// The number of a name never changes. Not `Sendable`: it belongs to the state's connection.
final class InternedNames {
    private let connection: Connection
    private let find: Statement
    private let insert: Statement
    private let read: Statement
    private let everything: Statement
    /// The cached names. They are few: sets and relationships of the metadata.
    private var numbers: [String: Int64] = [:]
    private var names: [Int64: String] = [:]
    /// The name that was looked up last, because consecutive rows usually have the same name.
    private var last: (name: String, number: Int64)?

    init(_ table: String, _ connection: Connection) {
        self.connection = connection
        find = Statement("SELECT id FROM \(table) WHERE name = ?")
        insert = Statement("INSERT INTO \(table) (name) VALUES (?)")
        everything = Statement("SELECT id, name FROM \(table)")
        read = Statement("SELECT name FROM \(table) WHERE id = ?")
    }

    /// Returns the number of a name, or nil if it has none yet.
    func number(of name: String) throws(SQLiteError) -> Int64? {
        if let last, last.name == name { return last.number }
        if let known = numbers[name] {
            last = (name, known)
            return known
        }
        let stored = try connection.untraced { () throws(SQLiteError) in
            try connection.firstInteger(find) { $0.text(name) }
        }
        guard let found = stored else { return nil }
        remember(name, found)
        return found
    }

    /// Returns the number of a name. Assigns one if it has none yet.
    func numbered(_ name: String) throws(SQLiteError) -> Int64 {
        if let known = try number(of: name) { return known }
        try connection.run(insert) { $0.text(name) }
        let number = connection.lastInsertedRow
        remember(name, number)
        return number
    }

    /// Returns the name with a number, or nil if there is none.
    func name(_ number: Int64) throws(SQLiteError) -> String? {
        if let last, last.number == number { return last.name }
        if let known = names[number] {
            last = (known, number)
            return known
        }
        let stored = try connection.untraced { () throws(SQLiteError) in
            try connection.firstText(read) { $0.integer(number) }
        }
        guard let found = stored else { return nil }
        remember(found, number)
        return found
    }

    /// Returns the numbers of all names.
    func all() throws(SQLiteError) -> [String: Int64] {
        var found: [String: Int64] = [:]
        try connection.untraced { () throws(SQLiteError) in
            try connection.eachRow(everything, { _ in }) { row in
                if let name = row.text(1) { found[name] = row.integer(0) }
            }
        }
        return found
    }

    private func remember(_ name: String, _ number: Int64) {
        numbers[name] = number
        names[number] = name
        last = (name, number)
    }

    /// Discards the cached names after a rollback, which may have removed numbers.
    func invalidate() { (numbers, names, last) = ([:], [:], nil) }
}
