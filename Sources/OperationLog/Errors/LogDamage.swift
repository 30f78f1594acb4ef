/// A position in the log where the bytes differ from those that were written.
package struct LogDamage: Sendable, Hashable, CustomStringConvertible {
    /// The path of the segment file, including its directory.
    package let path: String
    /// The offset of the damaged structure in the file, in bytes.
    package let offset: UInt64
    package let fault: LogFault
    /// The first sequence number that is unreadable because of the damage.
    package let sequence: UInt64

    package init(path: String, offset: UInt64, fault: LogFault, sequence: UInt64) {
        self.path = path
        self.offset = offset
        self.fault = fault
        self.sequence = sequence
    }

    package var description: String {
        "\(path) is damaged at offset \(offset): \(fault); operations from \(sequence) on may be lost. "
            + "Nothing was changed."
    }
}

/// The kind of damage to a structure of a segment.
package enum LogFault: Error, Sendable, Hashable {
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
    package var description: String {
        switch self {
        case .endsEarly: "the file ends inside a structure"
        case .zeroes: "zero bytes instead of the beginning of a block"
        case .wrongMagic: "the bytes do not begin a structure of this format"
        case .headerChecksum: "the checksum of the header does not match"
        case .payloadChecksum: "the checksum of the payload does not match"
        case .outOfRange(let field): "\(field) is out of range"
        case .brokenChain: "the block does not continue the previous block (one is missing, repeated or moved)"
        case .sequenceGap(let expected, let found): "sequence number \(found) instead of \(expected)"
        case .undecodable(let reason): "the payload cannot be decoded (\(reason))"
        case .notAuthentic: "the block was not encrypted for this position"
        case .unfinishedCommit: "the commit's last blocks are missing"
        case .notSealed: "the end of the segment is missing, although another segment follows"
        case .bytesAfterTrailer: "there are bytes after the trailer of the segment"
        case .missingSegment: "a segment is missing"
        case .endsBeforeSnapshot(let sequence):
            "the log ends here, although there is a snapshot of the state before operation \(sequence)"
        case .endsBeforeRecordedEnd(let sequence):
            "the log ends here, although its file \(EndFile.name) records operation \(sequence)"
        case .runInterrupted: "an earlier block of the same run is unreadable"
        case .otherStore(let found): "the segment belongs to the log of store \(found)"
        case .undecodableRecord(let kind, let reason): "a record of kind \(kind) cannot be decoded (\(reason))"
        }
    }
}
