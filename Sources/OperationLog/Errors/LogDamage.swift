/// One place in the log where bytes are not what was written.
public struct LogDamage: Sendable, Hashable, CustomStringConvertible {
    /// The segment file, with its directory.
    public let path: String
    /// Of the damaged structure, in bytes from the start of the file.
    public let offset: UInt64
    public let fault: LogFault
    /// The first sequence number that cannot be read because of it.
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

/// What is wrong with a structure of a segment.
public enum LogFault: Error, Sendable, Hashable {
    /// The file ends within the structure.
    case endsEarly
    /// There are zero bytes where a structure should begin.
    case zeroes
    case wrongMagic
    case headerChecksum
    case payloadChecksum
    /// A length or count in an intact header is outside what the format allows.
    case outOfRange(field: String)
    /// The structure is intact but does not continue what precedes it: something is missing, repeated or out of order.
    case brokenChain
    /// The structure is intact but its sequence number is not the next one.
    case sequenceGap(expected: UInt64, found: UInt64)
    /// The checksums hold but the payload does not decode.
    case undecodable(reason: String)
    /// The checksums hold, but the block was not encrypted with this key for this place: somebody changed it.
    case notAuthentic
    /// A commit's last blocks are missing.
    case unfinishedCommit
    /// The segment is followed by another one but was never sealed: its end is missing.
    case notSealed
    /// There are bytes behind the trailer of a sealed segment.
    case bytesAfterTrailer
    /// The segment that should begin with this sequence number is missing.
    case missingSegment
    /// The log ends here although a snapshot says that there were records up to this one: its end is missing.
    case endsBeforeSnapshot(UInt64)
    /// The log ends here although its file `END` says that it had this record, durable: its end is missing.
    case endsBeforeRecordedEnd(UInt64)
    /// The block is intact, but an earlier block of its run is not, without which it cannot be decompressed.
    case runInterrupted
    /// The segment is intact, but another log's.
    case otherStore(found: StoreIdentifier)
    /// The log gives the record back as it was appended, but its payload is not what its kind demands.
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
