/// Why the log could not do what it was asked to. Each case asks something else of the caller.
public enum LogError: Error, Sendable, Hashable {
    /// Another writer has the store. Nothing was changed; close the other one, or open a ``LogReader``.
    case locked(path: String, processID: Int32?)

    /// Bytes that were once written well are no longer so. Nothing was cut or changed.
    case damaged(LogDamage)

    /// The file is sound but asks for something that this version of the library does not know.
    case unsupported(path: String, offset: UInt64, feature: String)

    /// The segment or snapshot is encrypted and no key was given. Nothing was changed; open it with its key.
    case keyRequired(path: String)

    /// The segment or snapshot is encrypted with none of the keys that were given. Nothing was changed; open it with its
    /// key. It is told from damage: the file names the key that it wants, in a form that does not give it away.
    case wrongKey(path: String)

    /// The segment or snapshot is not encrypted, and all of the log from an earlier record on is. Nothing was changed. It was
    /// not written by this store: put the right file back.
    case notEncrypted(path: String)

    /// The directory holds another store's log.
    case otherStore(path: String, expected: StoreIdentifier, found: StoreIdentifier)

    /// There is no log in the directory.
    case noLog(path: String)

    /// The records up to this one were removed by a compaction; what they led to is in a snapshot.
    case compacted(first: UInt64)

    /// A call of the operating system failed. The log stays usable: nothing had been written.
    case fileSystem(FileSystemError)

    /// This append (or ``OperationLog/sync()``) failed while writing, and the log is closed for good: the kernel may
    /// have dropped what it could not write, and would report success the next time. Whether the commit is in the log
    /// is known once the log has been opened again; it is there as a whole or not at all.
    case writeFailed(FileSystemError)

    /// The log was closed, by ``OperationLog/close()`` (`cause` nil) or by an earlier failure to write.
    case closed(cause: FileSystemError?)

    /// A record's payload is longer than ``LogFormat/maximumPayload``. Nothing was appended.
    case recordTooLarge(bytes: Int, maximum: Int)

    /// The sequence number after the last possible one was asked for.
    case sequenceExhausted

    /// zstd refused to work, for want of memory as a rule. Nothing was appended.
    case compression(reason: String)
}

extension LogError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .locked(let path, let processID):
            let owner = processID.map { "process \($0)" } ?? "another process"
            return "The store is in use: \(owner) holds the lock \(path). Close it there first; reading is possible."
        case .damaged(let damage):
            return damage.description
        case .unsupported(let path, let offset, let feature):
            return "\(path), offset \(offset): \(feature) is not known to this version; use a newer one."
        case .otherStore(let path, let expected, let found):
            return "\(path) belongs to store \(found), not to \(expected)."
        case .keyRequired(let path):
            return "\(path) is encrypted, and no key was given."
        case .wrongKey(let path):
            return "\(path) is encrypted with another key than those given."
        case .notEncrypted(let path):
            return "\(path) is not encrypted, and the log has been since earlier: this store did not write it."
        case .noLog(let path):
            return "There is no log in \(path)."
        case .compacted(let first):
            return "The operations before \(first) were compacted: only the state that they led to is kept."
        case .fileSystem(let failure):
            return "\(failure)."
        case .writeFailed(let failure):
            return "The log is closed for good because \(failure). Open the store again to see what was kept."
        case .closed(let cause):
            guard let cause else { return "The log was closed." }
            return "The log was closed for good when \(cause). Open the store again to go on."
        case .recordTooLarge(let bytes, let maximum):
            return "A record of \(bytes) bytes is more than a log takes (\(maximum))."
        case .sequenceExhausted:
            return "The log has used up its sequence numbers."
        case .compression(let reason):
            return "zstd could not work: \(reason)."
        }
    }
}
