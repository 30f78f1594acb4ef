import SyncCore

/// A statement that inserts a block of new rows, which takes less time than a statement for each row.
///
/// It skips rows that exist, and those that violate a constraint. The caller compares the number of inserted rows, and
/// writes the rows of an incomplete block one after the other, which reports such an error.
///
/// A statement that replaces or refuses stored rows can fail after its first row. To be able to revert it, SQLite copies
/// each page before the first change, which takes longer than the statements for each row.
package struct BlockInsertion {
    /// The number of parameters that every build of SQLite accepts.
    static let parameterLimit = 999
    private static let usualSize = 32

    let statement: Statement
    /// The number of rows.
    package let size: Int
    /// The number of columns of each row.
    let columns: Int

    package var sql: String { statement.sql }

    package init(into target: String, columns: Int) {
        size = min(Self.usualSize, Self.parameterLimit / columns)
        self.columns = columns
        let row = "(" + repeatElement("?", count: columns).joined(separator: ", ") + ")"
        let rows = repeatElement(row, count: size).joined(separator: ", ")
        statement = Statement("INSERT OR IGNORE INTO \(target) VALUES \(rows)")
    }
}

extension StatementRunner {
    /// Inserts items in blocks as long as most items are new, and writes each remaining item.
    ///
    /// - Parameters:
    ///   - bind: Binds the columns of an item.
    ///   - write: Inserts an item or replaces the stored one.
    func insert<Item>(
        _ items: [Item], by insertion: BlockInsertion, _ bind: (Item, inout Binding) -> Void,
        orWriteEach write: (Item) throws(StateError) -> Void
    ) throws(StateError) {
        var start = 0
        var areNew = true
        while areNew, items.count - start >= insertion.size {
            let block = items[start..<start + insertion.size]
            try run(insertion.statement) { binding in for item in block { bind(item, &binding) } }
            let inserted = Int(connection.changedRows)
            if inserted < block.count { for item in block { try write(item) } }
            areNew = inserted > block.count / 2
            start = block.endIndex
        }
        for item in items[start...] { try write(item) }
    }
}
