import Dispatch

extension OperationLog {
    /// Packs sealed segments again that were not yet, as ``Options/sealing`` says, and returns how many. Blocks the
    /// thread meanwhile; others can append.
    ///
    /// This happens by itself, in the background, some time after a segment was sealed. Call it to have it now.
    ///
    /// - Throws: Damage, or a failure to read or write. The segment is as it was then, and the log goes on.
    @discardableResult
    public func repackSealedSegments() throws(LogError) -> Int {
        try repackSealedSegments(blockSize: SegmentRepack.usualBlockSize)
    }

    @discardableResult
    func repackSealedSegments(blockSize: Int) throws(LogError) -> Int {
        guard case .repacked(let level) = options.sealing else { return 0 }
        let (directory, last) = try withTail { tail throws(LogError) in
            try tail.checkOpen()
            return (tail.directory, tail.segment.header.firstSequence)
        }
        let names = try onFiles { () throws(FileSystemError) in try fileSystem.list(directory) }
        var count = 0
        for first in SegmentName.sorted(names) where first < last {
            do {
                if try repack(first, level: level, blockSize: blockSize) { count += 1 }
            } catch {
                // Removed by a compaction since the directory was listed.
                guard case .fileSystem(let failure) = error, failure.isNotFound else { throw error }
            }
        }
        return count
    }

    /// Packs one segment after the other until none is left. Holds the monitor for moments only.
    func repackWaiting() {
        guard case .repacked(let level) = options.sealing else { return }
        while let first = takeUnpacked() {
            // Nothing of the log depends on it. The segment is tried again when the log is opened again.
            _ = try? repack(first, level: level, blockSize: SegmentRepack.usualBlockSize)
        }
    }

    private func repack(_ first: UInt64, level: Int, blockSize: Int) throws(LogError) -> Bool {
        repacking.lock()
        defer { repacking.unlock() }
        guard (try? withTail { tail throws(LogError) in try tail.beginWork() }) != nil else { return false }
        defer { withTail { $0.endWork() } }
        let repack = SegmentRepack(
            fileSystem: fileSystem, directory: withTail { $0.directory }, keys: options.keys, level: level,
            layout: options.layout, blockSize: blockSize)
        let outcome = try repack.run(first) {
            withTail { $0.state == .open }
        } replace: { old, new throws(FileSystemError) in
            try withTail { _ throws(FileSystemError) in
                // Compaction may have removed it meanwhile; it must not come back.
                guard try fileSystem.exists(old) else { return false }
                try fileSystem.rename(new, to: old)
                return true
            }
        }
        return outcome == .repacked
    }
}

extension FileSystem {
    fileprivate func exists(_ path: String) throws(FileSystemError) -> Bool {
        do {
            try open(path, .read).close()
            return true
        } catch {
            guard error.isNotFound else { throw error }
            return false
        }
    }
}
