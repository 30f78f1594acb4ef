extension FileSystem {
    /// Makes a segment without blocks. It gets its name only when its header is durable; the name is not, before the
    /// directory is synced.
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
    /// That there really is no log where there are no segments: a compaction leaves one at least.
    func checkEmpty(_ listing: LogListing) throws(LogError) {
        guard let newest = listing.snapshots.last else {
            let error = try EndFile.errorOfEmptyLog(fileSystem, directory: directory)
            if case .damaged = error { throw error }
            return
        }
        let path = directory + "/" + SegmentName.name(firstSequence: newest)
        throw .damaged(LogDamage(path: path, offset: 0, fault: .missingSegment, sequence: newest))
    }

    /// The log's first segment. The directory is not synced yet.
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
