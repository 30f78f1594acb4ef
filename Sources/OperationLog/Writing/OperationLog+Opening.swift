extension OperationLog {
    /// Takes the lock, brings a log that a crash left behind back to its last whole commit, and is ready to append.
    ///
    /// - Parameter directory: Holds the segments and nothing else. Made where missing; its parent must exist.
    /// - Throws: ``LogError/locked(path:processID:)`` while another writer lives. ``LogError/damaged(_:)`` where bytes
    ///   changed that a crash cannot explain; nothing is cut then.
    public static func open(
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
        // Once for all of the above: removed, renamed or made by a process that died before it came to this.
        try onFiles { () throws(FileSystemError) in try fileSystem.syncDirectory(directory) }
        let tail = try LogTail(
            directory: directory, fileSystem: fileSystem, options: options, lock: lock, found: found)
        // All that was found is durable by now, also where a crash had come before it was noted.
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
