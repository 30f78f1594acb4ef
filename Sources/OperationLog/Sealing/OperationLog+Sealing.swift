import Dispatch

extension OperationLog {
    /// Recompresses sealed segments that were not recompressed yet, depending on ``LogOptions/sealing``.
    ///
    /// This happens automatically in the background some time after a segment is sealed; call this method to do it
    /// immediately. Blocks the calling thread. Other threads can append at the same time.
    ///
    /// - Returns: The number of recompressed segments.
    /// - Throws: Damage, or a read or write error. In that case the segment is unchanged and the log stays open.
    @discardableResult
    package func recompressSealedSegments() throws(LogError) -> Int {
        try recompressSealedSegments(blockSize: SegmentRecompression.usualBlockSize)
    }

    @discardableResult
    func recompressSealedSegments(blockSize: Int) throws(LogError) -> Int {
        guard case .repacked(let level) = options.sealing else { return 0 }
        return try recompressSealedSegments(level: level, blockSize: blockSize)
    }

    /// Recompresses sealed segments that have more blocks than necessary, whatever ``LogOptions/sealing`` is.
    ///
    /// - Parameter blockSize: The largest number of raw bytes in a block. Segments with less than a fourth of it are
    ///   never rewritten, so that simulations with small segments need a smaller size than the usual one.
    @discardableResult
    package func recompressSealedSegments(level: Int, blockSize: Int) throws(LogError) -> Int {
        let (directory, last) = try withTail { tail throws(LogError) in
            try tail.checkOpen()
            return (tail.directory, tail.segment.header.firstSequence)
        }
        let names = try onFiles { () throws(FileSystemError) in try fileSystem.list(directory) }
        var count = 0
        for first in SegmentName.sorted(names) where first < last {
            do {
                if try recompress(first, level: level, blockSize: blockSize) { count += 1 }
            } catch {
                // A compaction has removed it since the directory was listed.
                guard case .fileSystem(let failure) = error, failure.isNotFound else { throw error }
            }
        }
        return count
    }

    /// Recompresses waiting segments until none is left. Holds the monitor only for short periods.
    func recompressPending() {
        guard case .repacked(let level) = options.sealing else { return }
        while let first = nextUncompressedSegment() {
            // A failure is ignored: nothing depends on the result, and the segment is tried again after the next
            // opening.
            _ = try? recompress(first, level: level, blockSize: SegmentRecompression.usualBlockSize)
        }
    }

    private func recompress(_ first: UInt64, level: Int, blockSize: Int) throws(LogError) -> Bool {
        repacking.lock()
        defer { repacking.unlock() }
        guard (try? withTail { tail throws(LogError) in try tail.beginWork() }) != nil else { return false }
        defer { withTail { $0.endWork() } }
        let recompress = SegmentRecompression(
            fileSystem: fileSystem, directory: withTail { $0.directory }, keys: options.keys, level: level,
            layout: options.layout, blockSize: blockSize)
        let outcome = try recompress.run(first) {
            withTail { $0.state == .open }
        } replace: { old, new throws(FileSystemError) in
            try withTail { _ throws(FileSystemError) in
                // A compaction may have removed the segment in the meantime; it must not reappear.
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
