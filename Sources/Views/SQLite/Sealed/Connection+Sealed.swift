import CSQLite

extension Connection {
    /// Makes a write-ahead log the journal of an encrypted file, and keeps the file locked until the connection is closed: then
    /// SQLite needs no memory that it shares with other processes, in a file that nobody would check.
    func useSealedLog(of database: SealedDatabase) throws(SQLiteError) {
        try execute("PRAGMA locking_mode = EXCLUSIVE")
        // A journal in a file is refused, and this one is for a moment only.
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

    /// Throws where what is not in the pages yet is gone.
    func checkClosed(_ database: SealedDatabase) throws(SQLiteError) {
        if database.mark.frames > 0 { throw Self.missingLog }
    }

    private static var missingLog: SQLiteError {
        SQLiteError(code: SQLITE_CORRUPT, message: "the end of the write-ahead log is missing", sql: nil)
    }

    /// Returns the number of the first page of an encrypted file that is not as it was written; nil if there is none, or
    /// behind so many bytes, and for a file that is not encrypted.
    func firstWrongSealedPage(limit: Int) -> Int? { sealed?.database.firstWrongPage(limit: limit) }
}
