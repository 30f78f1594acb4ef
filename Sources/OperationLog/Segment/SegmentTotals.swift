/// The content of a footer, accumulated block by block.
struct SegmentTotals: Equatable {
    private(set) var rawBytes: UInt64 = 0
    private(set) var blockCount: UInt32 = 0
    private(set) var digest: UInt32
    private(set) var entries: [SegmentFooter.Entry] = []

    init(header: SegmentHeader) {
        let bytes = header.encoded()
        digest = crc32c(bytes[...])
    }

    /// Adds a block.
    ///
    /// - Parameter bytes: The block's header and payload as stored in the file.
    mutating func add(_ header: BlockHeader, offset: UInt64, bytes: ArraySlice<UInt8>) {
        rawBytes &+= UInt64(header.rawLength)
        blockCount &+= 1
        digest = crc32c(bytes, continuing: digest)
        if header.type == BlockType.records, header.flags.contains(.startsRun) {
            entries.append(SegmentFooter.Entry(sequence: header.firstSequence, offset: offset))
        }
    }

    mutating func add(_ block: SegmentFile.Block, binding: SegmentBinding) {
        // An intact header encodes to the bytes that it was read from, because the format has only one encoding.
        var header = [UInt8](repeating: 0, count: BlockHeader.Layout.byteCount)
        block.header.encode(into: &header, at: 0, binding: binding)
        add(block.header, offset: block.offset, bytes: header[...])
        digest = crc32c(block.payload, continuing: digest)
    }

    func footer(lastSequence: UInt64) -> SegmentFooter {
        SegmentFooter(
            lastSequence: lastSequence, rawBytes: rawBytes, blockCount: blockCount, digest: digest, entries: entries)
    }
}
