/// Encodes commits into consecutive blocks, segment by segment. Encoded blocks are kept in ``bytes`` until they are
/// written.
final class CommitEncoder {
    /// The encoded blocks that are not written yet. They belong at the end of the file, before ``end``.
    private(set) var bytes: [UInt8] = []
    /// The position after the last commit.
    private(set) var end: SegmentFile.Position
    /// The totals of the segment's blocks, including those in ``bytes``.
    private(set) var totals: SegmentTotals

    private var binding: SegmentBinding
    private let compressor: RunCompressor?
    /// The column encoder, or nil if blocks are not stored in column form.
    private var columns: ColumnEncoder?
    private let runSize: Int
    private var rawInRun = 0
    private var needsNewRun = true
    /// The blocks of the commit that is being encoded.
    private var blocks: [Block] = []

    private struct Block {
        let header: BlockHeader
        let offset: UInt64
        /// The range in ``CommitEncoder/bytes``.
        let range: Range<Int>
    }

    /// Creates an encoder that continues a segment.
    ///
    /// - Parameters:
    ///   - position: The end of the segment.
    ///   - totals: The totals of the segment's existing blocks.
    ///   - layout: If it is set, ``encode(raw:recordCount:)`` uses the column form for blocks that become shorter. Each
    ///     such block is a run, so `runSize` must be 0.
    init(
        compression: OperationLog.Options.Compression, runSize: Int, binding: SegmentBinding,
        position: SegmentFile.Position, totals: SegmentTotals, layout: RecordLayout? = nil
    ) throws(LogError) {
        precondition(layout == nil || runSize == 0, "a block of columns is a run")
        switch compression {
        case .stored: compressor = nil
        case .zstd(let level): compressor = try RunCompressor(level: level)
        }
        self.runSize = runSize
        self.totals = totals
        self.binding = binding
        columns = compressor == nil ? nil : layout.map { ColumnEncoder($0) }
        end = position
    }

    /// Encodes records whose commit boundaries need not be preserved and that are already durable elsewhere.
    func encode(raw: [UInt8], recordCount: UInt32) throws(LogError) {
        blocks.removeAll(keepingCapacity: true)
        let form = columns?.encode(raw, recordCount: recordCount)
        try encode(raw[...], recordCount: recordCount, .predecessorsDurable, columns: form)
        for block in blocks { totals.add(block.header, offset: block.offset, bytes: bytes[block.range]) }
    }

    /// The file offset at which ``bytes`` must be written.
    var offset: UInt64 { end.offset - UInt64(bytes.count) }

    func begin(_ segment: SegmentFile) {
        precondition(bytes.isEmpty, "the rest of the previous segment was not written")
        binding = segment.binding
        totals = SegmentTotals(header: segment.header)
        end = segment.start
        needsNewRun = true
    }

    func didWrite() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Encodes the commit after the preceding one. After an error nothing is changed, except that a new run begins.
    func encode(_ commit: Commit, predecessorsDurable: Bool) throws(LogError) {
        let before = (end: end, count: bytes.count)
        blocks.removeAll(keepingCapacity: true)
        do throws(LogError) {
            for index in 0..<commit.blockCount {
                var flags: BlockFlags = index + 1 < commit.blockCount ? .commitContinues : []
                if predecessorsDurable, index == 0 { flags.insert(.predecessorsDurable) }
                let (raw, recordCount) = commit.block(index)
                try encode(commit.raw[raw], recordCount: recordCount, flags)
            }
        } catch {
            end = before.end
            bytes.removeLast(bytes.count - before.count)
            needsNewRun = true
            throw error
        }
        for block in blocks { totals.add(block.header, offset: block.offset, bytes: bytes[block.range]) }
    }

    /// Encodes one block. Compresses the column form if there is one, and the raw bytes otherwise.
    private func encode(
        _ raw: ArraySlice<UInt8>, recordCount: UInt32, _ flags: BlockFlags, columns: [UInt8]? = nil
    ) throws(LogError) {
        var flags = flags
        if needsNewRun || rawInRun + raw.count > runSize {
            flags.insert(.startsRun)
            compressor?.startRun()
            rawInRun = 0
            needsNewRun = false
        }
        let start = bytes.count
        let payload = start + BlockHeader.Layout.byteCount
        bytes.append(contentsOf: repeatElement(0, count: BlockHeader.Layout.byteCount))
        if let compressor {
            try compressor.compress(columns.map { $0[...] } ?? raw, into: &bytes)
        } else {
            bytes.append(contentsOf: raw)
        }
        let method =
            compressor == nil ? BlockMethod.stored : columns == nil ? BlockMethod.zstdRun : BlockMethod.zstdColumns
        var header = BlockHeader(
            type: BlockType.records, method: method,
            flags: flags, firstSequence: end.nextSequence, recordCount: recordCount, rawLength: UInt32(raw.count),
            storedLength: UInt32(bytes.count - payload + binding.overhead), chainBefore: end.chain,
            chainAfter: crc32c(raw, continuing: end.chain), payloadChecksum: 0)
        binding.cipher?.seal(&bytes, from: payload, header)
        header.payloadChecksum = crc32c(of: bytes, in: payload..<bytes.count)
        header.encode(into: &bytes, at: start, binding: binding)
        blocks.append(Block(header: header, offset: end.offset, range: start..<bytes.count))
        rawInRun += raw.count
        end.offset += UInt64(bytes.count - start)
        end.nextSequence += UInt64(recordCount)
        end.chain = header.chainAfter
    }

    /// Returns the footer block and the trailer, which seal the segment at ``end``.
    func sealBytes() -> [UInt8] {
        let payload = totals.footer(lastSequence: end.nextSequence - 1).encoded()
        let header = BlockHeader(
            type: BlockType.footer, method: BlockMethod.stored, flags: .predecessorsDurable,
            firstSequence: end.nextSequence, recordCount: 0, rawLength: UInt32(payload.count),
            storedLength: UInt32(payload.count), chainBefore: end.chain, chainAfter: end.chain,
            payloadChecksum: crc32c(payload[...]))
        var bytes = [UInt8](repeating: 0, count: BlockHeader.Layout.byteCount)
        header.encode(into: &bytes, at: 0, binding: binding)
        bytes.append(contentsOf: payload)
        bytes.append(contentsOf: SegmentTrailer.encoded(footerOffset: end.offset, segmentChecksum: binding.checksum))
        return bytes
    }
}
