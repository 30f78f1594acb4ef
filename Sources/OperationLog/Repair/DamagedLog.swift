/// All files of a log, interpreted by their content and not by their names.
struct DamagedLog {
    private(set) var surveys: [SegmentSurvey] = []
    /// The store identifier. A new one is generated if no file contains it any more.
    private(set) var store = StoreIdentifier.random()
    private(set) var passedOver: [RepairPlan.SkippedPart] = []
    /// The snapshots that are intact from their first byte to their last, ascending.
    private(set) var snapshots: [Snapshot] = []
    /// Whether the log's first segment, according to its header, still exists.
    private(set) var hasBeginning = false
    /// The recorded end of the log.
    private var recorded: LogEnd?
    /// The key of the newest encrypted segment.
    private(set) var key: LogKey?

    struct Snapshot {
        let file: SnapshotFile
        let chain: UInt32
    }

    private let fileSystem: any FileSystem
    private let directory: String
    private let keys: [LogKey]

    init(_ fileSystem: any FileSystem, directory: String, keys: [LogKey]) throws(LogError) {
        self.fileSystem = fileSystem
        self.directory = directory
        self.keys = keys
        let listing = try LogReader.listing(directory, fileSystem)
        if listing.segments.isEmpty, listing.snapshots.isEmpty {
            guard let slots = EndSlots(try EndFile.bytes(fileSystem, directory: directory), keys: keys) else {
                throw .noLog(path: directory)
            }
            (store, recorded, key) = (slots.store, slots.newest, keys.first)
            return
        }
        var segments: [SegmentFile] = []
        var damaged: [(first: UInt64, bytes: [UInt8])] = []
        for first in listing.segments {
            let (file, bytes) = try opened(path(first))
            if let header = try decoded(bytes, path(first)) {
                segments.append(try SegmentFile(path: path(first), file: file, header: header, keys: keys))
            } else {
                file.close()
                damaged.append((first, bytes))
            }
        }
        let known = Self.commonStore(segments.map(\.header.storeIdentifier))
        for (first, bytes) in damaged {
            let recovery = HeaderRecovery(
                fileSystem: fileSystem, path: path(first), keys: keys, firstSequence: first, store: known)
            if let segment = try recovery.run(bytes) {
                segments.append(segment)
            } else {
                passedOver.append(.init(path: path(first), reason: "the header of the segment cannot be recovered"))
            }
        }
        store = Self.commonStore(segments.map(\.header.storeIdentifier)) ?? store
        let candidates = try readSnapshots(listing.snapshots, isStoreKnown: !segments.isEmpty)
        try survey(segments)
        // A snapshot is made at the start of a segment, so the two have the same chain value.
        let chains = Dictionary(segments.map { ($0.header.firstSequence, $0.chain) }) { first, _ in first }
        for snapshot in candidates {
            if let chain = chains[snapshot.file.sequence], chain != snapshot.chain {
                passedOver.append(.init(path: snapshot.file.path, reason: "the snapshot belongs to another history"))
            } else {
                snapshots.append(snapshot)
            }
        }
    }

    private func path(_ first: UInt64) -> String { directory + "/" + SegmentName.name(firstSequence: first) }

    private func opened(_ path: String) throws(LogError) -> (any File, [UInt8]) {
        try onFiles { () throws(FileSystemError) in
            let file = try fileSystem.open(path, .read)
            // Includes a block header, because it contains a chain value.
            return (file, try file.read(at: 0, count: SegmentHeader.maximumByteCount + BlockHeader.Layout.byteCount))
        }
    }

    /// Returns the header, or nil if it is damaged or that of a snapshot.
    private func decoded(_ bytes: [UInt8], _ path: String) throws(LogError) -> SegmentHeader? {
        do {
            let header = try SegmentHeader.decode(Array(bytes.prefix(SegmentHeader.maximumByteCount)))
            return header.isSnapshot ? nil : header
        } catch {
            guard case .unsupported(let feature) = error else { return nil }
            throw .unsupported(path: path, offset: 0, feature: feature)
        }
    }

    /// Returns the store that most of the segments belong to.
    private static func commonStore(_ stores: [StoreIdentifier]) -> StoreIdentifier? {
        var counts: [StoreIdentifier: Int] = [:]
        for store in stores { counts[store, default: 0] += 1 }
        guard let most = counts.values.max() else { return nil }
        return stores.first { counts[$0] == most }
    }

    private mutating func survey(_ segments: [SegmentFile]) throws(LogError) {
        let segments = segments.sorted { $0.header.firstSequence < $1.header.firstSequence }
        if let last = segments.last(where: { $0.header.storeIdentifier == store }) {
            recorded = EndSlots(try EndFile.bytes(fileSystem, directory: directory), of: last, keys: keys).newest
        }
        for segment in segments {
            guard segment.header.storeIdentifier == store else {
                passedOver.append(
                    .init(path: segment.path, reason: "it belongs to store \(segment.header.storeIdentifier)"))
                continue
            }
            if segment.header.isFirst { hasBeginning = true }
            if segment.header.encryption != nil { key = keys.first { segment.header.isEncrypted(with: $0) } }
            surveys.append(try SegmentSurvey(segment, recorded: recorded))
        }
    }

    private mutating func readSnapshots(
        _ sequences: [UInt64], isStoreKnown: Bool
    ) throws(LogError) -> [Snapshot] {
        var found: [Snapshot] = []
        for sequence in sequences {
            do throws(LogError) {
                let segment = try SegmentFile(
                    fileSystem, directory: directory, .snapshot, firstSequence: sequence, mode: .read, keys: keys)
                if !isStoreKnown, found.isEmpty { store = segment.header.storeIdentifier }
                guard segment.header.storeIdentifier == store else {
                    passedOver.append(
                        .init(path: segment.path, reason: "it belongs to store \(segment.header.storeIdentifier)"))
                    continue
                }
                let cursor = SnapshotCursor(segment)
                while try cursor.next() != nil {}
                let file = SnapshotFile(sequence: sequence, path: segment.path, bytes: try segment.size())
                found.append(Snapshot(file: file, chain: segment.chain))
                if segment.header.encryption != nil { key = keys.first { segment.header.isEncrypted(with: $0) } }
            } catch {
                guard case .damaged(let damage) = error else { throw error }
                passedOver.append(.init(path: damage.path, reason: "the snapshot is damaged: \(damage.fault)"))
            }
        }
        return found
    }

    // MARK: Content of a new log

    /// All intact blocks, except those of a commit that was being written at the end of the log.
    var stretches: [BlockRun] {
        var stretches = surveys.flatMap(\.stretches)
        var tail = stretches.indices.max { stretches[$0].end.nextSequence < stretches[$1].end.nextSequence }
        guard let last = tail, surveys.contains(where: { $0.isTorn && $0.ends(with: stretches[last]) }) else {
            return stretches
        }
        while let index = tail, stretches[index].unfinishedCommit != nil {
            let removed = stretches.remove(at: index)
            if let finished = removed.finished {
                stretches.append(finished)
                break
            }
            // The commit may have begun in the preceding stretch.
            tail = stretches.firstIndex { $0.segment === removed.segment && $0.end == removed.start }
        }
        return stretches
    }

    /// The beginning of the new log, and the chain value there if it is known.
    var beginning: (sequence: UInt64, chain: UInt32?) {
        let stretches = stretches
        if !hasBeginning, let snapshot = snapshots.last {
            let first = stretches.min { $0.start.nextSequence < $1.start.nextSequence }?.start
            if let first, first.nextSequence <= snapshot.file.sequence { return (first.nextSequence, first.chain) }
            return (snapshot.file.sequence, snapshot.chain)
        }
        return (1, store.initialChain)
    }

    /// Whether the new log begins with record 1, like a log that was never compacted.
    var isBeginning: Bool { hasBeginning || snapshots.isEmpty }

    /// Returns the sequence number after the last record that is known to have existed.
    func knownEnd(of stretches: [BlockRun]) -> UInt64 {
        let (first, _) = beginning
        return max(
            first, stretches.map(\.end.nextSequence).max() ?? first, snapshots.last?.file.sequence ?? first,
            surveys.filter { !$0.isTorn }.map(\.knownEnd).max() ?? first, recorded?.nextSequence ?? first)
    }
}
