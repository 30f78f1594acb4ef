extension OperationLog {
    /// Opens a log for appending: acquires the lock and recovers the log up to its last complete commit.
    ///
    /// - Parameter directory: The directory that contains the segments and nothing else. It is created if it is
    ///   missing; its parent must exist.
    /// - Throws: ``LogError/locked(path:processID:)`` while another writer is active. ``LogError/damaged(_:)`` if the
    ///   log has damage that a crash cannot explain; nothing is cut in that case.
    package static func open(
        directory: String, options: Options = Options(), fileSystem: any FileSystem = PosixFileSystem()
    ) throws(LogError) -> (log: OperationLog, recovery: RecoveryReport) {
        let lock = try takeLock(directory: directory, options: options, fileSystem: fileSystem)
        try LogRepair.finishSwap(directory, fileSystem)
        let recovery = Recovery(fileSystem: fileSystem, directory: directory, keys: options.keys)
        let names = try existingNames(directory: directory, options: options, fileSystem: fileSystem)
        let removed = try recovery.removeUnfinished(names)
        let listing = LogListing(names)

        let found: Recovery.Found
        if listing.segments.isEmpty {
            try recovery.checkEmpty(listing)
            guard options.creation == .ifMissing else { throw .noLog(path: directory) }
            found = try recovery.createFirst(options.storeIdentifier ?? .random())
        } else {
            found = try recovery.recover(listing)
        }
        let identifier = found.segment.header.storeIdentifier
        if let expected = options.storeIdentifier, expected != identifier {
            throw .otherStore(path: directory, expected: expected, found: identifier)
        }
        // Makes all of the above durable, including changes of a process that died before it synced the directory.
        try onFiles { () throws(FileSystemError) in try fileSystem.syncDirectory(directory) }
        let tail = try LogTail(
            directory: directory, fileSystem: fileSystem, options: options, lock: lock, found: found)
        // Everything found is durable now, even if a crash occurred before the end was recorded.
        tail.recordEnd()
        let report = RecoveryReport(
            created: listing.segments.isEmpty, segments: found.segments, nextSequence: found.position.nextSequence,
            cut: found.cut, removedFiles: removed, snapshotDamages: found.snapshotDamages)
        return (OperationLog(tail, unpacked: found.unpacked), report)
    }

    private static func takeLock(
        directory: String, options: Options, fileSystem: any FileSystem
    ) throws(LogError) -> any FileLock {
        let path = options.lockPath ?? parentDirectory(of: directory) + "/LOCK"
        switch try onFiles({ () throws(FileSystemError) in try fileSystem.lock(path) }) {
        case .taken(let lock): return lock
        case .heldByAnother(let processID): throw .locked(path: path, processID: processID)
        }
    }

    private static func existingNames(
        directory: String, options: Options, fileSystem: any FileSystem
    ) throws(LogError) -> [String] {
        do {
            return try fileSystem.list(directory)
        } catch {
            guard error.isNotFound else { throw .fileSystem(error) }
        }
        guard options.creation == .ifMissing else { throw .noLog(path: directory) }
        try onFiles { () throws(FileSystemError) in
            try fileSystem.createDirectory(directory)
            try fileSystem.syncDirectory(parentDirectory(of: directory))
        }
        return []
    }
}
