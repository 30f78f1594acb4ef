/// An error of the log. Each case calls for a different reaction by the caller.
package enum LogError: Error, Sendable, Hashable {
    /// Another writer has opened the store. Nothing was changed. Close the other writer, or open a ``LogReader``.
    case locked(path: String, processID: Int32?)

    /// The log is damaged: bytes changed after they were written. Nothing was cut or changed.
    case damaged(LogDamage)

    /// The file is intact but requires a feature that this version of the library does not support.
    case unsupported(path: String, offset: UInt64, feature: String)

    /// The segment or snapshot is encrypted and no key was passed. Nothing was changed. Open it with its key.
    case keyRequired(path: String)

    /// The segment or snapshot is encrypted with a key that was not passed. Nothing was changed. Open it with its key.
    ///
    /// This error is distinguishable from damage, because the file contains an identifier of its key.
    case wrongKey(path: String)

    /// The segment or snapshot is not encrypted, although the log is encrypted from an earlier record on.
    ///
    /// Nothing was changed. This store did not write the file: restore the right one.
    case notEncrypted(path: String)

    /// The directory contains the log of another store.
    case otherStore(path: String, expected: StoreIdentifier, found: StoreIdentifier)

    /// The directory contains no log.
    case noLog(path: String)

    /// The records before `first` were removed by a compaction. Their effect is contained in a snapshot.
    case compacted(first: UInt64)

    /// A system call failed. The log stays usable, because nothing was written.
    case fileSystem(FileSystemError)

    /// This append (or ``OperationLog/sync()``) failed while writing, and the log is closed permanently.
    ///
    /// The kernel may have dropped data that it could not write, and would report success at the next sync. Whether the
    /// commit is in the log is known only after the log is reopened; it is there as a whole or not at all.
    case writeFailed(FileSystemError)

    /// The log was closed by ``OperationLog/close()`` (`cause` is nil) or by an earlier write error.
    case closed(cause: FileSystemError?)

    /// A record's payload exceeds ``LogFormat/maximumPayload``. Nothing was appended.
    case recordTooLarge(bytes: Int, maximum: Int)

    /// There are no more sequence numbers.
    case sequenceExhausted

    /// zstd failed, usually for lack of memory. Nothing was appended.
    case compression(reason: String)
}

extension LogError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .locked(let path, let processID):
            let owner = processID.map { "process \($0)" } ?? "another process"
            return
                "The store is in use: \(owner) holds the lock \(path). Close it there first; commands that only read work meanwhile."
        case .damaged(let damage):
            return damage.description
        case .unsupported(let path, let offset, let feature):
            return "\(path), offset \(offset): \(feature) is not supported by this version. Use a newer version."
        case .otherStore(let path, let expected, let found):
            return "\(path) belongs to store \(found), not to \(expected)."
        case .keyRequired(let path):
            return "\(path) is encrypted, and no key was given."
        case .wrongKey(let path):
            return "\(path) is encrypted with a key that was not given."
        case .notEncrypted(let path):
            return "\(path) is not encrypted, although earlier segments of the log are: another program wrote the file."
        case .noLog(let path):
            return "There is no log in \(path)."
        case .compacted(let first):
            return "A compaction removed the operations before \(first); only the state after them is stored."
        case .fileSystem(let failure):
            return "\(failure)."
        case .writeFailed(let failure):
            return "The log was closed because \(failure). Open the store again to see which operations are stored."
        case .closed(let cause):
            guard let cause else { return "The log is closed." }
            return "The log was closed when \(cause). Open the store again to continue."
        case .recordTooLarge(let bytes, let maximum):
            return "A record of \(bytes) bytes exceeds the limit of the log (\(maximum))."
        case .sequenceExhausted:
            return "The log has no sequence numbers left."
        case .compression(let reason):
            return "zstd failed: \(reason)."
        }
    }
}
