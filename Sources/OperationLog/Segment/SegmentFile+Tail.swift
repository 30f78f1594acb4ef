extension LogFault {
    /// Whether a crash while writing can leave this behind, and what shows that it did.
    var tearing: Tearing {
        switch self {
        // The file ends within a structure or a commit, or goes on with zeroes only.
        case .endsEarly, .zeroes, .unfinishedCommit: .certain
        case .wrongMagic, .headerChecksum, .payloadChecksum: .ifSectorIsMissing
        default: .impossible
        }
    }

    enum Tearing { case certain, ifSectorIsMissing, impossible }
}

extension SegmentFile {
    /// The unit that a disk writes as a whole: after a crash a sector has its new bytes, or none of them.
    static let sectorSize: UInt64 = 512

    /// Whether an invalid structure in the last segment is the trace of a crash while it was written.
    ///
    /// A crash leaves out whole sectors: the file ends early, or a sector is still zero. Bytes that are all there and do not
    /// fit their checksum are damage, as is everything in front of an intact block whose writer knew that all before it was
    /// durable. Zeroes of the payload itself that fill their part of a sector pass for a missing one.
    func isTorn(_ fault: LogFault, at position: Position) throws(LogError) -> Bool {
        switch fault.tearing {
        case .impossible: return false
        case .certain: break
        case .ifSectorIsMissing:
            guard try lacksSector(from: position.offset) else { return false }
        }
        let witness = try nextHeader(after: position.offset) { header in
            header.flags.contains(.predecessorsDurable) && header.firstSequence >= position.nextSequence
        }
        return witness == nil
    }

    /// The least zeroes at the end of the file that pass for bytes that were not written: a process may end, and a page be
    /// written, between two bytes of a sector.
    static let missingEnd = 16

    /// Whether the part of a sector that belongs to the bytes from the offset on is zero, or the file ends with zeroes.
    private func lacksSector(from start: UInt64) throws(LogError) -> Bool {
        let end = try size()
        if end >= start + UInt64(Self.missingEnd) {
            let last = try bytes(at: end - UInt64(Self.missingEnd), count: Self.missingEnd)
            if last.allSatisfy({ $0 == 0 }) { return true }
        }
        var offset = start
        while offset < end {
            let boundary = min(end, (offset / Self.sectorSize + 1) * Self.sectorSize)
            let part = try bytes(at: offset, count: Int(boundary - offset))
            // The file may have become shorter, as when its writer took back what it could not write.
            guard !part.isEmpty else { return true }
            if part.allSatisfy({ $0 == 0 }) { return true }
            offset = boundary
        }
        return false
    }
}
