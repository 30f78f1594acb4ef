import CSQLite

extension Connection {
    /// Sets the journal mode of an encrypted file to a write-ahead log, and locks the file until the connection is
    /// closed. SQLite then needs no file for shared memory, which would not be authenticated.
    func useSealedLog(of database: SealedDatabase) throws(SQLiteError) {
        try execute("PRAGMA locking_mode = EXCLUSIVE")
        // A journal file is refused, so this temporary journal is in memory.
        if database.size == 0 { try execute("PRAGMA journal_mode = MEMORY") }
        try execute("PRAGMA journal_mode = WAL; SELECT 1 FROM sqlite_master")
        let needed = database.mark.frames
        if needed > 0 {
            let found = try first("PRAGMA wal_checkpoint(PASSIVE)")?.dropFirst().first?.integer ?? 0
            guard found >= needed else {
                database.refuseWrites()
                throw Self.missingLog
            }
        }
    }

    /// Throws if transactions are lost that are not in the pages yet.
    func checkClosed(_ database: SealedDatabase) throws(SQLiteError) {
        if database.mark.frames > 0 { throw Self.missingLog }
    }

    private static var missingLog: SQLiteError {
        SQLiteError(code: SQLITE_CORRUPT, message: "the end of the write-ahead log is missing", sql: nil)
    }

    /// Returns the number of the first page that is not authentic among the first `limit` bytes of an encrypted file;
    /// nil if there is none, or the file is not encrypted.
    func firstWrongSealedPage(limit: Int) -> Int? { sealed?.database.firstWrongPage(limit: limit) }
}
