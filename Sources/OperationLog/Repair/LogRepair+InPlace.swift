extension LogRepair {
    /// The result of a repair in place.
    package enum Outcome: Sendable, Hashable {
        case nothing
        /// The incomplete end was cut, as every opening does.
        case cut(RecoveryReport)
        /// A new log replaces the damaged one, which is kept in the directory `kept`.
        case salvaged(RepairPlan.Salvage, kept: String)
    }

    /// Replaces the damaged log with a salvaged one. The damaged log is kept next to it as `….damaged-` and the first
    /// free number.
    ///
    /// A crash leaves either the damaged log unchanged, or the new log under a name from which the next repair or the
    /// next ``OperationLog/open(directory:options:fileSystem:)`` completes the replacement.
    ///
    /// - Parameters:
    ///   - lockPath: The writer's lock file. Nil means `LOCK` next to the log's directory.
    ///   - beforeSwap: Removes data derived from the old log. Called under the lock when the new log is complete and
    ///     durable, and also if nothing is damaged, because the derived data may include records from an end that the
    ///     log has lost.
    package func inPlace(lockPath: String? = nil, beforeSwap: () throws -> Void) throws -> Outcome {
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

    /// The suffix of a complete new log that is about to replace the damaged one.
    static let repairedSuffix = ".repaired"

    /// Completes a repair that crashed between its two renames, when only the new log exists, next to the log's path.
    /// The caller holds the lock.
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

    /// Removes the files of an earlier attempt that ended before it changed the log.
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
