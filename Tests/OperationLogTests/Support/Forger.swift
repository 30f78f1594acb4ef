@testable import OperationLog

/// Changes to segments that no accident causes.
enum Forger {
    /// Recomputes both checksums of the block from its current header and payload.
    static func fitChecksums(ofBlockAt offset: Int, in segment: inout [UInt8]) {
        let header = segment[offset...]
        let stored: UInt32 = header.load(BlockHeader.Layout.storedLength)
        let payload = offset + BlockHeader.Layout.byteCount
        let segmentChecksum: UInt32 = segment[...].load(SegmentHeader.Layout.checksum)
        segment.store(
            crc32c(segment[payload..<payload + Int(stored)]), BlockHeader.Layout.payloadChecksum, in: offset)
        let covered = segment[offset..<offset + BlockHeader.Layout.checksum.offset]
        segment.store(crc32c(covered, continuing: segmentChecksum), BlockHeader.Layout.checksum, in: offset)
    }
}

extension Sample {
    /// Returns the offsets of the blocks of an intact segment, including the footer.
    static func blockOffsets(of segment: [UInt8]) -> [Int] {
        var offsets: [Int] = []
        var offset = SegmentHeader.Layout.byteCount
        while offset + BlockHeader.Layout.byteCount <= segment.count,
            segment[offset..<offset + 4].elementsEqual(LogFormat.blockMagic)
        {
            offsets.append(offset)
            let stored: UInt32 = segment[offset...].load(BlockHeader.Layout.storedLength)
            offset += BlockHeader.Layout.byteCount + Int(stored)
        }
        return offsets
    }
}
