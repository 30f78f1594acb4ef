/// Turns commits into blocks, one behind the other, for one segment after the other.
final class CommitEncoder {
    struct Block {
        let header: BlockHeader
        let offset: UInt64
        /// In ``CommitEncoder/bytes``.
        let range: Range<Int>
    }

    /// The last commit, as it is to be written at the position that it was encoded for.
    private(set) var bytes: [UInt8] = []
    private(set) var blocks: [Block] = []
    private(set) var end: SegmentFile.Position

    private let compressor: RunCompressor?
    private let runSize: Int
    private var rawInRun = 0
    private var needsNewRun = true
    private var raw: [UInt8] = []
    private var recordsInBlock: UInt32 = 0

    init(options: OperationLog.Options, position: SegmentFile.Position) throws(LogError) {
        switch options.compression {
        case .stored: compressor = nil
        case .zstd(let level): compressor = try RunCompressor(level: level)
        }
        runSize = options.runSize
        end = position
    }

    /// What was compressed so far is in another segment, or was never written.
    func startRun(at position: SegmentFile.Position) {
        needsNewRun = true
        end = position
    }

    /// Encodes the commit behind the one before. After a throw nothing has changed but that a new run begins.
    func encode(
        _ records: [(kind: UInt8, payload: [UInt8])], binding: SegmentBinding, predecessorsDurable: Bool
    ) throws(LogError) {
        let before = end
        bytes.removeAll(keepingCapacity: true)
        blocks.removeAll(keepingCapacity: true)
        beginBlock()
        do throws(LogError) {
            for record in records {
                let size = RecordCoding.encodedSize(payload: record.payload.count)
                if recordsInBlock > 0, raw.count + size > LogFormat.targetBlockRaw {
                    var flags: BlockFlags = .commitContinues
                    if predecessorsDurable, blocks.isEmpty { flags.insert(.predecessorsDurable) }
                    try finishBlock(flags, binding: binding)
                    beginBlock()
                }
                RecordCoding.encode(kind: record.kind, payload: record.payload, into: &raw)
                recordsInBlock += 1
            }
            let durable = predecessorsDurable && blocks.isEmpty
            try finishBlock(durable ? .predecessorsDurable : [], binding: binding)
        } catch {
            startRun(at: before)
            throw error
        }
    }

    private func beginBlock() {
        raw.removeAll(keepingCapacity: true)
        recordsInBlock = 0
    }

    private func finishBlock(_ flags: BlockFlags, binding: SegmentBinding) throws(LogError) {
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
            try compressor.compress(raw, into: &bytes)
        } else {
            bytes.append(contentsOf: raw)
        }
        var header = BlockHeader(
            type: BlockType.records, method: compressor == nil ? BlockMethod.stored : BlockMethod.zstdRun,
            flags: flags, firstSequence: end.nextSequence, recordCount: recordsInBlock, rawLength: UInt32(raw.count),
            storedLength: UInt32(bytes.count - payload + binding.overhead), chainBefore: end.chain,
            chainAfter: crc32c(raw[...], continuing: end.chain), payloadChecksum: 0)
        binding.cipher?.seal(&bytes, from: payload, header)
        header.payloadChecksum = crc32c(bytes[payload...])
        header.encode(into: &bytes, at: start, binding: binding)
        blocks.append(Block(header: header, offset: end.offset, range: start..<bytes.count))
        rawInRun += raw.count
        end.offset += UInt64(bytes.count - start)
        end.nextSequence += UInt64(recordsInBlock)
        end.chain = header.chainAfter
    }
}
