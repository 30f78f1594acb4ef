import SyncCore

/// Filling empty views.
extension SQLiteState {
    /// Runs `body`, which writes a whole state into empty views, in one transaction.
    ///
    /// The indexes are created at the end, from sorted entries. This takes about half the time of an insertion into each
    /// index for each row.
    package func fill(_ body: () throws -> Void) throws {
        try transaction {
            deferredIndexes = []
            defer { deferredIndexes = nil }
            try body()
            for statement in deferredIndexes ?? [] { try connection.execute(statement) }
        }
    }

    /// Drops the indexes of the empty tables if they are created later.
    func deferIndexes() throws(StateError) {
        guard deferredIndexes != nil else { return }
        // In the order of their creation, on which the choice of equally good indexes may depend.
        let indexes = try list(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY rowid"
        ) { (name: $0.text(0) ?? "", statement: $0.text(1) ?? "") }
        for index in indexes { try run("DROP INDEX \(TableLayout.quoted(index.name))") }
        deferredIndexes = indexes.map(\.statement)
    }
}
