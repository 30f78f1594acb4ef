/// The snapshots of a log, looked at from both ends: header, footer and trailer. What is between is checked when it is
/// read.
struct SnapshotSet {
    /// Ascending; those that look whole.
    private(set) var headers: [SegmentHeader] = []
    /// Of those that do not. They are not used.
    private(set) var damages: [LogDamage] = []

    /// The newest one that looks whole.
    var newest: SegmentHeader? { headers.last }

    /// Whether the log may begin with this record: the state in front of it is in a snapshot, or follows from one and
    /// the records behind it.
    func cover(_ first: UInt64) -> Bool {
        headers.contains { $0.firstSequence >= first }
    }

    /// Whether a log that ends here has all the records that were there when the newest snapshot was made: they were
    /// durable then, so an end in front of it is no trace of a crash.
    func fit(_ end: SegmentFile.Position) -> Bool {
        newest.map { $0.firstSequence <= end.nextSequence } ?? true
    }

    init(_ fileSystem: any FileSystem, directory: String, sequences: [UInt64]) throws(LogError) {
        for sequence in sequences {
            do throws(LogError) {
                let segment = try SegmentFile(
                    fileSystem, directory: directory, .snapshot, firstSequence: sequence, mode: .read)
                guard try segment.footerFromEnd() != nil else {
                    throw segment.damage(.endsEarly, at: segment.start)
                }
                headers.append(segment.header)
            } catch {
                switch error {
                case .damaged(let damage): damages.append(damage)
                // Replaced by a newer one since the directory was listed.
                case .fileSystem(let failure) where failure.isNotFound: continue
                default: throw error
                }
            }
        }
    }

    /// Takes out what does not continue the log that the segment belongs to. A snapshot is made where a segment begins,
    /// so the two have the same chain value.
    mutating func hold(to segment: SegmentHeader, in directory: String) throws(LogError) {
        for header in headers where header.storeIdentifier != segment.storeIdentifier {
            throw .otherStore(
                path: Self.path(header, in: directory), expected: segment.storeIdentifier,
                found: header.storeIdentifier)
        }
        for header in headers where header.firstSequence == segment.firstSequence && header.chain != segment.chain {
            damages.append(
                LogDamage(
                    path: Self.path(header, in: directory), offset: 0, fault: .brokenChain,
                    sequence: header.firstSequence))
        }
        headers.removeAll { $0.firstSequence == segment.firstSequence && $0.chain != segment.chain }
    }

    private static func path(_ header: SegmentHeader, in directory: String) -> String {
        directory + "/" + SegmentName.name(.snapshot, firstSequence: header.firstSequence)
    }
}
