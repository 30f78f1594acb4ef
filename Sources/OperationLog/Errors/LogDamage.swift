/// A position in the log where the bytes differ from those that were written.
public struct LogDamage: Sendable, Hashable, CustomStringConvertible {
    /// The path of the segment file, including its directory.
    public let path: String
    /// The offset of the damaged structure in the file, in bytes.
    public let offset: UInt64
    public let fault: LogFault
    /// The first sequence number that is unreadable because of the damage.
    public let sequence: UInt64

    public init(path: String, offset: UInt64, fault: LogFault, sequence: UInt64) {
        self.path = path
        self.offset = offset
        self.fault = fault
        self.sequence = sequence
    }

    public var description: String {
        "\(path) is damaged at offset \(offset): \(fault); operations from \(sequence) on are affected. "
            + "Nothing was changed."
    }
}

/// The kind of damage to a structure of a segment.
public enum LogFault: Error, Sendable, Hashable {
    /// The file ends within the structure.
    case endsEarly
    /// Zero bytes occur where a structure should begin.
    case zeroes
    case wrongMagic
    case headerChecksum
    case payloadChecksum
    /// A length or count in an intact header is outside the range that the format allows.
    case outOfRange(field: String)
    /// The structure is intact but does not continue its predecessor: a structure is missing, repeated or out of order.
    case brokenChain
    /// The structure is intact, but its sequence number is not the next one.
    case sequenceGap(expected: UInt64, found: UInt64)
    /// The checksums match, but the payload cannot be decoded.
    case undecodable(reason: String)
    /// The checksums match, but the block was not encrypted with this key for this position: it was tampered with.
    case notAuthentic
    /// The last blocks of a commit are missing.
    case unfinishedCommit
    /// Another segment follows this segment, but it was never sealed: its end is missing.
    case notSealed
    /// Bytes follow the trailer of a sealed segment.
    case bytesAfterTrailer
    /// The segment that should begin with this sequence number is missing.
    case missingSegment
    /// The log ends here although a snapshot shows that it had records up to this one: its end is missing.
    case endsBeforeSnapshot(UInt64)
    /// The log ends here although its file `END` records that it had this record, durably: its end is missing.
    case endsBeforeRecordedEnd(UInt64)
    /// The block is intact, but an earlier block of its run, which is needed to decompress it, is not.
    case runInterrupted
    /// The segment is intact but belongs to another log.
    case otherStore(found: StoreIdentifier)
    /// The log returns the record as it was appended, but the payload is invalid for its kind.
    case undecodableRecord(kind: UInt8, reason: String)
}

extension LogFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .endsEarly: "the file ends within a structure"
        case .zeroes: "zero bytes where a block should begin"
        case .wrongMagic: "no structure of this format begins here"
        case .headerChecksum: "the header's checksum does not hold"
        case .payloadChecksum: "the payload's checksum does not hold"
        case .outOfRange(let field): "\(field) is out of range"
        case .brokenChain: "the block does not continue the one before it (missing, repeated or moved)"
        case .sequenceGap(let expected, let found): "sequence number \(found) where \(expected) was due"
        case .undecodable(let reason): "the payload does not decode (\(reason))"
        case .notAuthentic: "the block is not what was encrypted for this place"
        case .unfinishedCommit: "the commit's last blocks are missing"
        case .notSealed: "the segment's end is missing although another segment follows"
        case .bytesAfterTrailer: "there are bytes behind the segment's trailer"
        case .missingSegment: "a segment is missing"
        case .endsBeforeSnapshot(let sequence):
            "the log ends here although a snapshot was made in front of operation \(sequence)"
        case .endsBeforeRecordedEnd(let sequence):
            "the log ends here although it had operation \(sequence), as its file \(EndFile.name) says"
        case .runInterrupted: "an earlier block of the same run is unreadable"
        case .otherStore(let found): "the segment is of another log, that of store \(found)"
        case .undecodableRecord(let kind, let reason): "a record of kind \(kind) does not decode (\(reason))"
        }
    }
}
