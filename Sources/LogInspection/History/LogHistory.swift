public import OperationLog

/// A store's log as a person reads it: every record decoded, in order, with one line that says what it is.
///
/// Only reads; takes no lock, and a writer may append meanwhile. Damage is no reason to stop: what can be read is given,
/// and what cannot is named (``HistoryItem/damage(_:resumesAt:)``).
public struct LogHistory: Sendable {
    /// The directory of the segments: `log` in a store's directory.
    public let directory: String
    let keys: [LogKey]
    let fileSystem: any FileSystem

    /// - Parameter keys: all that the log's segments are encrypted with.
    public init(
        logDirectory: String, keys: [LogKey] = [], fileSystem: any FileSystem = PosixFileSystem()
    ) {
        directory = logDirectory
        self.keys = keys
        self.fileSystem = fileSystem
    }

    /// The log's items from its beginning. The cursor looks at nothing before its first ``HistoryCursor/next()``.
    public func items() -> HistoryCursor {
        HistoryCursor(directory: directory, keys: keys, fileSystem: fileSystem)
    }

    /// What became of each operation, up to the end of the log as it is now. Reads the whole log and keeps one fate for
    /// each operation; records themselves are not kept.
    ///
    /// - Throws: ``LogError/noLog(path:)``, ``LogError/unsupported(path:offset:feature:)``, or a failure to read. Damage
    ///   is not thrown: operations whose fate it may hide are ``OperationFate/unknown``.
    public func fates() throws(LogError) -> OperationFates {
        var fates = OperationFates()
        let cursor = items()
        while let item = try cursor.next() { fates.apply(item) }
        return fates
    }

    /// How large the log is, with and without compression. Reads and checks every byte.
    public func size() throws(LogError) -> LogSize {
        LogSize(try LogVerification.verify(directory: directory, keys: keys, fileSystem: fileSystem))
    }
}
