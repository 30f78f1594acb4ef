/// The snapshots of a log, looked at from both ends: header, footer and trailer. What is between is checked when it is
/// read.
struct SnapshotSet {
    private struct Member {
        let sequence: UInt64
        /// Of the log, in front of that record.
        let chain: UInt32
        let store: StoreIdentifier
        let path: String
    }

    /// Those that look whole, ascending.
    private var members: [Member] = []
    /// Of those that do not. They are not used.
    private(set) var damages: [LogDamage] = []

    /// The newest one that looks whole.
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
                // Removed since the directory was listed.
                case .fileSystem(let failure) where failure.isNotFound: continue
                default: throw error
                }
            }
        }
    }

    /// Whether the log may begin with this record: the state in front of it is in a snapshot, or follows from one and
    /// the records behind it.
    func cover(_ first: UInt64) -> Bool {
        newest.map { $0 >= first } ?? false
    }

    /// Whether a log that ends here has all the records that were there when the newest snapshot was made: they were
    /// durable then, so an end in front of it is no trace of a crash.
    func fit(_ end: SegmentFile.Position) -> Bool {
        newest.map { $0 <= end.nextSequence } ?? true
    }

    /// Takes out what does not continue the log that the segment belongs to. A snapshot is made where a segment begins,
    /// so the two have the same chain value.
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
