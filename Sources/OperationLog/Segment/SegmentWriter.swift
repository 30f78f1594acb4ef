/// Writes a whole segment file from its header to its trailer, in memory for one block however long it becomes.
///
/// The file has no name that a reader would look at: the caller gives it one when ``seal()`` has returned.
final class SegmentWriter {
    private let file: any File
    private let binding: SegmentBinding
    private let compressor: RunCompressor?
    private let runSize: Int
    private var totals: SegmentTotals
    private var position: SegmentFile.Position
    private var rawInRun = 0
    private var raw: [UInt8] = []
    private var recordsInBlock: UInt32 = 0
    private var bytes: [UInt8] = []

    private(set) var recordCount: UInt64 = 0
    private(set) var isSealed = false

    /// - Parameters:
    ///   - path: Must not exist yet.
    ///   - runSize: See ``OperationLog/Options/runSize``.
    init(
        _ fileSystem: any FileSystem, path: String, header: SegmentHeader, keys: [LogKey],
        compression: OperationLog.Options.Compression,
        runSize: Int
    ) throws(LogError) {
        switch compression {
        case .stored: compressor = nil
        case .zstd(let level): compressor = try RunCompressor(level: level)
        }
        self.runSize = runSize
        totals = SegmentTotals(header: header)
        let headerBytes = header.encoded()
        let chain: UInt32
        (binding, chain) = try header.unlocked(with: keys, path: path)
        position = SegmentFile.Position(
            offset: UInt64(headerBytes.count), nextSequence: header.firstSequence, chain: chain)
        let file = try onFiles { () throws(FileSystemError) in try fileSystem.open(path, .create) }
        self.file = file
        try onFiles { () throws(FileSystemError) in try file.write(headerBytes, at: 0) }
    }

    deinit { file.close() }

    func add(kind: UInt8, payload: [UInt8]) throws(LogError) {
        precondition(!isSealed, "the segment is sealed")
        guard payload.count <= LogFormat.maximumPayload else {
            throw .recordTooLarge(bytes: payload.count, maximum: LogFormat.maximumPayload)
        }
        guard position.nextSequence < .max - UInt64(recordsInBlock) - 1 else { throw .sequenceExhausted }
        let size = RecordCoding.encodedSize(payload: payload.count)
        if recordsInBlock > 0, raw.count + size > LogFormat.targetBlockRaw { try writeBlock() }
        RecordCoding.encode(kind: kind, payload: payload, into: &raw)
        recordsInBlock += 1
        recordCount += 1
    }

    /// Writes what is left, footer and trailer, and syncs the file. Returns its size. There must be a record.
    func seal() throws(LogError) -> UInt64 {
        precondition(!isSealed && recordCount > 0, "a segment with a seal has a record")
        if recordsInBlock > 0 { try writeBlock() }
        let seal = totals.seal(at: position, binding: binding)
        try onFiles { () throws(FileSystemError) in
            try file.write(seal, at: position.offset)
            try file.sync()
        }
        isSealed = true
        return position.offset + UInt64(seal.count)
    }

    private func writeBlock() throws(LogError) {
        var flags: BlockFlags = []
        if totals.blockCount == 0 || rawInRun + raw.count > runSize {
            flags.insert(.startsRun)
            compressor?.startRun()
            rawInRun = 0
        }
        rawInRun += raw.count
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: repeatElement(0, count: BlockHeader.Layout.byteCount))
        if let compressor {
            try compressor.compress(raw, into: &bytes)
        } else {
            bytes.append(contentsOf: raw)
        }
        let payload = BlockHeader.Layout.byteCount
        var header = BlockHeader(
            type: BlockType.records, method: compressor == nil ? BlockMethod.stored : BlockMethod.zstdRun,
            flags: flags, firstSequence: position.nextSequence, recordCount: recordsInBlock,
            rawLength: UInt32(raw.count), storedLength: UInt32(bytes.count - payload + binding.overhead),
            chainBefore: position.chain,
            chainAfter: crc32c(raw[...], continuing: position.chain), payloadChecksum: 0)
        binding.cipher?.seal(&bytes, from: payload, header)
        header.payloadChecksum = crc32c(bytes[payload...])
        header.encode(into: &bytes, at: 0, binding: binding)
        try onFiles { () throws(FileSystemError) in try file.write(bytes, at: position.offset) }
        totals.add(header, offset: position.offset, bytes: bytes[...])
        position.offset += UInt64(bytes.count)
        position.nextSequence = header.nextSequence
        position.chain = header.chainAfter
        raw.removeAll(keepingCapacity: true)
        recordsInBlock = 0
    }
}

extension SegmentTotals {
    /// Footer block and trailer for the segment whose blocks end at the position.
    func seal(at end: SegmentFile.Position, binding: SegmentBinding) -> [UInt8] {
        let payload = footer(lastSequence: end.nextSequence - 1).encoded()
        let header = BlockHeader(
            type: BlockType.footer, method: BlockMethod.stored, flags: .predecessorsDurable,
            firstSequence: end.nextSequence, recordCount: 0, rawLength: UInt32(payload.count),
            storedLength: UInt32(payload.count), chainBefore: end.chain, chainAfter: end.chain,
            payloadChecksum: crc32c(payload[...]))
        var bytes = [UInt8](repeating: 0, count: BlockHeader.Layout.byteCount)
        header.encode(into: &bytes, at: 0, binding: binding)
        bytes.append(contentsOf: payload)
        bytes.append(
            contentsOf: SegmentTrailer.encoded(footerOffset: end.offset, segmentChecksum: binding.checksum))
        return bytes
    }
}
