/// What checking a log has shown. Changes nothing and takes no lock; a writer may append meanwhile.
///
/// Memory does not grow with the log but with the number of its segments and, up to ``maximumDamages``, of its damages.
public struct LogVerification: Sendable, Hashable {
    /// How much is checked. Both read every byte.
    public enum Depth: Sendable, Hashable {
        /// Headers, checksums, the chain between blocks, footers with their digests, and that each segment continues the
        /// one before. Finds every change of bytes; decompresses nothing.
        case fast
        /// Also that the content decompresses, is what the chain says, and divides into records. Finds in addition what
        /// was wrong before it was written.
        case deep
    }

    /// One file of the log.
    public struct Segment: Sendable, Hashable {
        public let path: String
        public let firstSequence: UInt64
        public let fileBytes: UInt64
        public let isEncrypted: Bool
        public internal(set) var isSealed = false
        /// Of records.
        public internal(set) var blocks = 0
        /// Those that can be read, in a fast verification those in intact blocks.
        public internal(set) var records: UInt64 = 0
        /// What the records take uncompressed, and what their blocks take in the file without headers.
        public internal(set) var rawBytes: UInt64 = 0
        public internal(set) var storedBytes: UInt64 = 0
        /// Behind the last intact block.
        var nextSequence: UInt64

        /// Sealed, and of blocks so large that packing it again would save nothing.
        public var isPacked: Bool {
            isSealed && !SegmentRepack.isWorthwhile(rawBytes, UInt32(clamping: blocks))
        }

        /// The last record in an intact block; nil where there is none.
        public var lastSequence: UInt64? { nextSequence > firstSequence ? nextSequence - 1 : nil }
    }

    /// All records of one kind, framing included. Known after a deep verification.
    public struct KindTotals: Sendable, Hashable {
        public internal(set) var records: UInt64 = 0
        public internal(set) var rawBytes: UInt64 = 0
        /// Their share of what their blocks take in the file: a block's stored bytes are divided among its records by
        /// their raw bytes.
        public internal(set) var storedBytes: Double = 0
    }

    /// An incomplete commit at the end of the log: being written, or left by a crash. No damage; the next writer
    /// removes it.
    public struct Tail: Sendable, Hashable {
        public let path: String
        public let offset: UInt64
        public let bytes: UInt64
        public let reason: LogFault
    }

    /// Where a verification is: about to read a segment.
    public struct Progress: Sendable, Hashable {
        public let path: String
        /// Counted from 1.
        public let segment: Int
        public let segments: Int
    }

    public let depth: Depth
    public internal(set) var segments: [Segment] = []
    /// Snapshots are written like segments; their records are the items of a state. ``Segment/firstSequence`` is the first
    /// record of the log that the state does not include.
    public internal(set) var snapshots: [Segment] = []
    /// By record kind; empty after a fast verification.
    public internal(set) var kinds: [UInt8: KindTotals] = [:]
    /// In the order of the log, ``maximumDamages`` at most.
    public internal(set) var damages: [LogDamage] = []
    public internal(set) var tail: Tail?

    /// Where ``damages`` stops growing, and the verification stops.
    public static let maximumDamages = 1000

    /// The readable ones.
    public var records: UInt64 { segments.reduce(0) { $0 + $1.records } }
    public var blocks: Int { segments.reduce(0) { $0 + $1.blocks } }
    public var isSound: Bool { damages.isEmpty }

    init(depth: Depth) { self.depth = depth }

    /// - Parameters:
    ///   - keys: all that the log's segments are encrypted with.
    ///   - check: Says why a record's payload is not what its kind demands; nil where it is. What it says is listed as
    ///     damage. Only in a deep verification.
    ///   - progress: Called in front of each segment.
    /// - Throws: ``LogError/noLog(path:)``, ``LogError/unsupported(path:offset:feature:)``,
    ///   ``LogError/keyRequired(path:)``, ``LogError/wrongKey(path:)``, or a failure to read. Damage is not thrown but
    ///   reported.
    public static func verify(
        directory: String, keys: [LogKey] = [], depth: Depth = .deep, check: ((LogRecord) -> String?)? = nil,
        progress: (Progress) -> Void = { _ in }, fileSystem: any FileSystem = PosixFileSystem()
    ) throws(LogError) -> LogVerification {
        let end = try EndFile.bytes(fileSystem, directory: directory)
        let names: [String]
        do {
            names = try fileSystem.list(directory)
        } catch {
            throw error.isNotFound ? .noLog(path: directory) : .fileSystem(error)
        }
        let listing = LogListing(names)
        let firsts = listing.segments
        guard let last = firsts.last else {
            guard !end.isEmpty, listing.snapshots.isEmpty else { throw .noLog(path: directory) }
            var verification = LogVerification(depth: depth)
            verification.damages = [EndFile.missingFirstSegment(in: directory)]
            return verification
        }
        return try withoutActuallyEscaping(check ?? { _ in nil }) { (checking) throws(LogError) in
            var run = VerificationRun(depth: depth, check: check == nil ? nil : checking)
            for (index, first) in firsts.enumerated() where run.goesOn {
                progress(
                    Progress(
                        path: directory + "/" + SegmentName.name(firstSequence: first), segment: index + 1,
                        segments: firsts.count))
                try run.collectingDamage { run throws(LogError) in
                    let segment = try SegmentFile(
                        fileSystem, directory: directory, firstSequence: first, mode: .read, keys: keys)
                    if first == firsts.first {
                        let snapshots = try SnapshotSet(
                            fileSystem, directory: directory, sequences: listing.snapshots, keys: keys)
                        try run.collectingDamage { _ throws(LogError) in try segment.checkBeginning(snapshots) }
                    }
                    let recorded = first == last ? EndSlots(end, of: segment, keys: keys).newest : nil
                    try run.verify(segment, isLast: first == last, recorded: recorded)
                }
            }
            for sequence in listing.snapshots where run.goesOn {
                try run.collectingDamage { run throws(LogError) in
                    let snapshot = try SegmentFile(
                        fileSystem, directory: directory, .snapshot, firstSequence: sequence, mode: .read, keys: keys)
                    try run.verify(snapshot: snapshot)
                }
            }
            return run.finished()
        }
    }
}
