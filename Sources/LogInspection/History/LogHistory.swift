package import OperationLog

/// The readable form of a store's log: every record decoded, in order, with a one-line summary.
///
/// It only reads and takes no lock, and a writer may append meanwhile. It continues after damage: readable records are
/// returned, and unreadable ones are reported (``HistoryItem/damage(_:resumesAt:)``).
package struct LogHistory: Sendable {
    /// The directory of the segments: `log` in a store's directory.
    package let directory: String
    let keys: [LogKey]
    let fileSystem: any FileSystem

    /// Creates a history.
    ///
    /// - Parameter keys: All keys of the log's segments.
    package init(
        logDirectory: String, keys: [LogKey] = [], fileSystem: any FileSystem = PosixFileSystem()
    ) {
        directory = logDirectory
        self.keys = keys
        self.fileSystem = fileSystem
    }

    /// Returns the log's items from its beginning. The cursor reads nothing before its first ``HistoryCursor/next()``.
    package func items() -> HistoryCursor {
        HistoryCursor(directory: directory, keys: keys, fileSystem: fileSystem)
    }

    /// Returns the outcome of each operation up to the current end of the log. Reads the whole log, and holds one
    /// outcome per operation in memory.
    ///
    /// - Throws: ``LogError/noLog(path:)``, ``LogError/unsupported(path:offset:feature:)``, or a read error. Damage is
    ///   not thrown: operations that it may affect are ``OperationOutcome/unknown``.
    package func outcomes() throws(LogError) -> OperationOutcomes {
        var outcomes = OperationOutcomes()
        let cursor = items()
        while let item = try cursor.next() { outcomes.apply(item) }
        return outcomes
    }

    /// Returns the size of the log with and without compression. Reads and checks every byte.
    package func size() throws(LogError) -> LogSize {
        LogSize(try LogVerification.verify(directory: directory, keys: keys, fileSystem: fileSystem))
    }
}
