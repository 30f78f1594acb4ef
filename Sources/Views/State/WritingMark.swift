import SyncCore

/// The mark of a file that is being written, by which the next opening detects that the machine has crashed meanwhile.
///
/// Not `Sendable`: it belongs to the state's connection.
final class WritingMark {
    private let connection: Connection
    /// An identifier of the current run of the operating system, or nil to use no mark.
    private let boot: String?
    /// Whether the file is marked.
    private var isMarked = false

    /// - Throws: `damaged` if the file was being written when an earlier run of the system ended.
    init(_ connection: Connection, boot: String?) throws(StateError) {
        self.connection = connection
        self.boot = boot
        guard let boot else { return }
        let found: String?
        do throws(SQLiteError) {
            found = try connection.first("SELECT writing FROM header")?.first?.text
        } catch {
            throw StateError(error)
        }
        guard let found else { return }
        guard found == boot else {
            throw StateError(.damaged, "The system stopped while the views were written.")
        }
        isMarked = true
    }

    /// Whether the file may have been changed since it was opened.
    var mayHaveChanged: Bool { isMarked || boot == nil }

    /// Marks the file as being written, durably and before any other change.
    func begin() throws(StateError) {
        guard let boot, !isMarked else { return }
        try set(.text(boot))
        isMarked = true
    }

    /// Makes the file durable, and only then removes the mark.
    func end() throws(StateError) {
        guard isMarked, let boot else { return }
        try set(.text(boot))
        try set(.null)
        isMarked = false
    }

    /// Sets or removes the mark. Everything written before becomes durable too: a checkpoint syncs the whole file if it
    /// has a page to write.
    private func set(_ boot: SQLValue) throws(StateError) {
        do throws(SQLiteError) {
            try connection.execute("PRAGMA synchronous = FULL")
            try connection.run("UPDATE header SET writing = ?", [boot])
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA synchronous = OFF")
        } catch {
            try? connection.execute("PRAGMA synchronous = OFF")
            throw StateError(error)
        }
    }
}
