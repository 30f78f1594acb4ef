/// The snapshots of a log, checked at both ends: header, footer and trailer. The content is checked when it is read.
struct SnapshotSet {
    private struct Member {
        let sequence: UInt64
        /// The log's chain value before that record.
        let chain: UInt32
        let store: StoreIdentifier
        let path: String
    }

    /// The snapshots whose two ends are intact, ascending.
    private var members: [Member] = []
    /// The damage to the other snapshots, which are not used.
    private(set) var damages: [LogDamage] = []

    /// The newest snapshot whose two ends are intact.
    var newest: UInt64? { members.last?.sequence }

    init(
        _ fileSystem: any FileSystem, directory: String, sequences: [UInt64], keys: [LogKey]
    ) throws(LogError) {
        for sequence in sequences {
            do throws(LogError) {
                let segment = try SegmentFile(
                    fileSystem, directory: directory, .snapshot, firstSequence: sequence, mode: .read, keys: keys)
                guard try segment.footerFromEnd() != nil else {
                    throw segment.damage(.endsEarly, at: segment.start)
                }
                members.append(
                    Member(
                        sequence: sequence, chain: segment.chain, store: segment.header.storeIdentifier,
                        path: segment.path))
            } catch {
                switch error {
                case .damaged(let damage): damages.append(damage)
                // It was removed since the directory was listed.
                case .fileSystem(let failure) where failure.isNotFound: continue
                default: throw error
                }
            }
        }
    }

    /// Returns whether the log may begin with this record, because a snapshot contains the state before it or before a
    /// later record.
    func cover(_ first: UInt64) -> Bool {
        newest.map { $0 >= first } ?? false
    }

    /// Returns whether a log that ends here has all records that existed when the newest snapshot was made.
    ///
    /// These records were durable then, so an end before the snapshot is not the result of a crash.
    func fit(_ end: SegmentFile.Position) -> Bool {
        newest.map { $0 <= end.nextSequence } ?? true
    }

    /// Removes the snapshots that do not continue the log of the segment.
    ///
    /// A snapshot is made at the start of a segment, so the two have the same chain value.
    mutating func hold(to segment: SegmentFile) throws(LogError) {
        for member in members where member.store != segment.header.storeIdentifier {
            throw .otherStore(path: member.path, expected: segment.header.storeIdentifier, found: member.store)
        }
        let start = segment.start
        for member in members where member.sequence == start.nextSequence && member.chain != start.chain {
            damages.append(LogDamage(path: member.path, offset: 0, fault: .brokenChain, sequence: member.sequence))
        }
        members.removeAll { $0.sequence == start.nextSequence && $0.chain != start.chain }
    }
}
