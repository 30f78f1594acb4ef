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

extension Forger {
    /// Inserts a block of an unknown type, which readers skip, before the first block of a plain segment or snapshot.
    static func insertSkippableBlock(in segment: inout [UInt8]) throws {
        let start = SegmentHeader.Layout.byteCount
        let binding = SegmentBinding(checksum: segment[...].load(SegmentHeader.Layout.checksum), cipher: nil)
        let next = try BlockHeader.decode(segment[start...], binding: binding)
        let payload: [UInt8] = [1, 2, 3]
        let header = BlockHeader(
            type: BlockType.skippable, method: BlockMethod.stored, flags: [], firstSequence: next.firstSequence,
            recordCount: 0, rawLength: 3, storedLength: 3, chainBefore: next.chainBefore,
            chainAfter: next.chainBefore, payloadChecksum: crc32c(payload[...]))
        var block = [UInt8](repeating: 0, count: BlockHeader.Layout.byteCount)
        header.encode(into: &block, at: 0, binding: binding)
        segment.insert(contentsOf: block + payload, at: start)
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
