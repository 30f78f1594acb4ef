extension LogRepair {
    /// What a repair in place has done.
    public enum Outcome: Sendable, Hashable {
        case nothing
        /// The incomplete end was cut, as every opening does.
        case cut(RecoveryReport)
        /// There is a new log in the old one's place; the old one is kept in the directory `kept`.
        case salvaged(RepairPlan.Salvage, kept: String)
    }

    /// Puts a salvaged log in the place of the damaged one, which is kept beside it as `….damaged-` and the first free
    /// number.
    ///
    /// A crash leaves the damaged log as it was, or the new log under a name from which the next repair, or the next
    /// ``OperationLog/open(directory:options:fileSystem:)``, takes it.
    ///
    /// - Parameters:
    ///   - lockPath: The writer's lock file; nil means `LOCK` beside the log's directory.
    ///   - beforeSwap: Removes what was made of the old log. Called under the lock, when the new log is whole and durable, and
    ///     also if nothing is damaged: what was made of the log may know of an end that the log has lost.
    public func inPlace(lockPath: String? = nil, beforeSwap: () throws -> Void) throws -> Outcome {
        let lockPath = lockPath ?? parentDirectory(of: directory) + "/LOCK"
        let lock: any FileLock
        switch try onFiles({ () throws(FileSystemError) in try fileSystem.lock(lockPath) }) {
        case .taken(let taken): lock = taken
        case .heldByAnother(let processID): throw LogError.locked(path: lockPath, processID: processID)
        }
        defer { lock.release() }
        try Self.finishSwap(directory, fileSystem)
        switch try plan() {
        case .nothing:
            try beforeSwap()
            return .nothing
        case .tornTail:
            lock.release()
            var options = OperationLog.Options(creation: .never, lockPath: lockPath)
            options.keys = keys
            let (log, report) = try OperationLog.open(directory: directory, options: options, fileSystem: fileSystem)
            log.close()
            return .cut(report)
        case .salvage:
            let repaired = directory + Self.repairedSuffix
            try removeFiles(in: repaired)
            let salvage = try salvage(to: repaired)
            try beforeSwap()
            return .salvaged(salvage, kept: try swap(with: repaired))
        }
    }

    /// A whole new log that waits to take the place of the damaged one.
    static let repairedSuffix = ".repaired"

    /// Where a crash came between the two renames of a repair there is no log, and the new one beside its place. The caller
    /// has the lock.
    static func finishSwap(_ directory: String, _ fileSystem: any FileSystem) throws(LogError) {
        guard try !exists(directory, fileSystem), try exists(directory + repairedSuffix, fileSystem) else { return }
        try onFiles { () throws(FileSystemError) in
            try fileSystem.rename(directory + repairedSuffix, to: directory)
            try fileSystem.syncDirectory(parentDirectory(of: directory))
        }
    }

    func swap(with repaired: String) throws(LogError) -> String {
        var number = 1
        while try Self.exists(directory + ".damaged-\(number)", fileSystem) { number += 1 }
        let kept = directory + ".damaged-\(number)"
        try onFiles { () throws(FileSystemError) in
            let parent = parentDirectory(of: directory)
            try fileSystem.rename(directory, to: kept)
            try fileSystem.syncDirectory(parent)
            try fileSystem.rename(repaired, to: directory)
            try fileSystem.syncDirectory(parent)
        }
        return kept
    }

    /// What an earlier attempt left that came not so far as to touch the log.
    func removeFiles(in directory: String) throws(LogError) {
        guard try Self.exists(directory, fileSystem) else { return }
        try onFiles { () throws(FileSystemError) in
            for name in try fileSystem.list(directory) { try fileSystem.remove(directory + "/" + name) }
        }
    }

    private static func exists(_ directory: String, _ fileSystem: any FileSystem) throws(LogError) -> Bool {
        do {
            _ = try fileSystem.list(directory)
            return true
        } catch {
            guard error.isNotFound else { throw .fileSystem(error) }
            return false
        }
    }
}
