extension FileSystem {
    /// Creates a segment without blocks.
    ///
    /// The file gets its name after its header is durable. The name is durable after the directory is synced.
    func createSegment(_ header: SegmentHeader, in directory: String) throws(FileSystemError) {
        let path = directory + "/" + SegmentName.name(firstSequence: header.firstSequence)
        let unfinished = path + ".new"
        let file = try open(unfinished, .create)
        defer { file.close() }
        try file.write(header.encoded(), at: 0)
        try file.sync()
        try rename(unfinished, to: path)
    }
}

extension Recovery {
    /// Checks that a directory without segments has no traces of a log, because a compaction always leaves a segment.
    func checkEmpty(_ listing: LogListing) throws(LogError) {
        guard let newest = listing.snapshots.last else {
            let error = try EndFile.errorOfEmptyLog(fileSystem, directory: directory)
            if case .damaged = error { throw error }
            return
        }
        let path = directory + "/" + SegmentName.name(firstSequence: newest)
        throw .damaged(LogDamage(path: path, offset: 0, fault: .missingSegment, sequence: newest))
    }

    /// Creates the log's first segment. Does not sync the directory.
    func createFirst(_ store: StoreIdentifier) throws(LogError) -> Found {
        let header = SegmentHeader(
            storeIdentifier: store, firstSequence: 1, chain: store.initialChain, isFirst: true, key: keys.first)
        try onFiles { () throws(FileSystemError) in try fileSystem.createSegment(header, in: directory) }
        let segment = try SegmentFile(fileSystem, directory: directory, firstSequence: 1, mode: .readWrite, keys: keys)
        return Found(
            segment: segment, position: segment.start, totals: SegmentTotals(header: header), isSealed: false,
            segments: 1, cut: nil, snapshotDamages: [],
            end: EndRecorder(fileSystem, directory: directory, EndSlots([], of: segment, keys: keys)))
    }
}
