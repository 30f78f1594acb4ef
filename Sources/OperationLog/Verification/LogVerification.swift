/// The result of checking a log.
///
/// Verification changes nothing and takes no lock; a writer may append at the same time. Memory grows with the number
/// of segments and, up to ``maximumDamages``, of damages, but not with the log's size.
package struct LogVerification: Sendable, Hashable {
    /// The extent of a verification. Both depths read every byte.
    package enum Depth: Sendable, Hashable {
        /// Checks headers, checksums, the chain between blocks, footers with their digests, and that each segment
        /// continues its predecessor. Detects every change of bytes and decompresses nothing.
        case fast
        /// Also checks that the content can be decompressed, matches the chain, and consists of records. Additionally
        /// detects errors that occurred before the content was written.
        case deep
    }

    /// A file of the log.
    package struct Segment: Sendable, Hashable {
        package let path: String
        package let firstSequence: UInt64
        package let fileBytes: UInt64
        package let isEncrypted: Bool
        package internal(set) var isSealed = false
        /// The number of blocks of records.
        package internal(set) var blocks = 0
        /// The number of readable records. In a fast verification, the number of records in intact blocks.
        package internal(set) var records: UInt64 = 0
        /// The size of the records uncompressed, and the size of their blocks in the file without headers.
        package internal(set) var rawBytes: UInt64 = 0
        package internal(set) var storedBytes: UInt64 = 0
        /// The sequence number after the last intact block.
        var nextSequence: UInt64

        /// Whether the segment is sealed and has blocks so large that recompressing it would save nothing.
        package var isPacked: Bool {
            isSealed && !SegmentRecompression.isWorthwhile(rawBytes, UInt32(clamping: blocks))
        }

        /// The last record in an intact block, or nil if there is none.
        package var lastSequence: UInt64? { nextSequence > firstSequence ? nextSequence - 1 : nil }
    }

    /// The totals of all records of one kind, including their framing. Available after a deep verification.
    package struct KindTotals: Sendable, Hashable {
        package internal(set) var records: UInt64 = 0
        package internal(set) var rawBytes: UInt64 = 0
        /// Their share of the stored size: a block's stored bytes are divided among its records in proportion to their
        /// raw bytes.
        package internal(set) var storedBytes: Double = 0
    }

    /// An incomplete commit at the end of the log, which is being written or was left by a crash.
    ///
    /// It is not damage; the next writer removes it.
    package struct Tail: Sendable, Hashable {
        package let path: String
        package let offset: UInt64
        package let bytes: UInt64
        package let reason: LogFault
    }

    /// The progress of a verification: the segment that is about to be read.
    package struct Progress: Sendable, Hashable {
        package let path: String
        /// The index of the segment, counted from 1.
        package let segment: Int
        package let segments: Int
    }

    package let depth: Depth
    package internal(set) var segments: [Segment] = []
    /// The snapshots, which have the same structure as segments; their records are the items of a state.
    ///
    /// ``Segment/firstSequence`` is the first record of the log that the state does not include.
    package internal(set) var snapshots: [Segment] = []
    /// The totals by record kind. Empty after a fast verification.
    package internal(set) var kinds: [UInt8: KindTotals] = [:]
    /// The damages in the order of the log, at most ``maximumDamages``.
    package internal(set) var damages: [LogDamage] = []
    package internal(set) var tail: Tail?

    /// The maximum length of ``damages``. The verification stops when it is reached.
    package static let maximumDamages = 1000

    /// The number of readable records.
    package var records: UInt64 { segments.reduce(0) { $0 + $1.records } }
    package var blocks: Int { segments.reduce(0) { $0 + $1.blocks } }
    package var isSound: Bool { damages.isEmpty }

    init(depth: Depth) { self.depth = depth }

    /// Verifies a log.
    ///
    /// - Parameters:
    ///   - keys: All keys that the log's segments are encrypted with.
    ///   - check: Returns why a record's payload is invalid for its kind, or nil. A reason is reported as damage.
    ///     Called only in a deep verification.
    ///   - progress: Called before each segment.
    /// - Throws: ``LogError/noLog(path:)``, ``LogError/unsupported(path:offset:feature:)``,
    ///   ``LogError/keyRequired(path:)``, ``LogError/wrongKey(path:)``, or a read error. Damage is not thrown but
    ///   reported.
    package static func verify(
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
            for (index, first) in firsts.enumerated() where run.shouldContinue {
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
            for sequence in listing.snapshots where run.shouldContinue {
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
