/// Writes a complete segment file from its header to its trailer. Memory use is bounded by one block.
///
/// The file has a name that readers ignore. The caller renames it after ``seal()`` has returned.
final class SegmentWriter {
    private let file: any File
    private let encoder: CommitEncoder
    private var raw: [UInt8] = []
    private var recordsInBlock: UInt32 = 0

    /// The position after the last block.
    var end: SegmentFile.Position { encoder.end }
    private(set) var recordCount: UInt64 = 0
    private(set) var isSealed = false

    /// - Parameters:
    ///   - path: The path of the new file, which must not exist.
    ///   - runSize: See ``LogOptions/runSize``.
    init(
        _ fileSystem: any FileSystem, path: String, header: SegmentHeader, keys: [LogKey],
        compression: OperationLog.Options.Compression, runSize: Int
    ) throws(LogError) {
        let bytes = header.encoded()
        let (binding, chain) = try header.unlocked(with: keys, path: path)
        encoder = try CommitEncoder(
            compression: compression, runSize: runSize, binding: binding,
            position: SegmentFile.Position(
                offset: UInt64(bytes.count), nextSequence: header.firstSequence, chain: chain),
            totals: SegmentTotals(header: header))
        let file = try onFiles { () throws(FileSystemError) in try fileSystem.open(path, .create) }
        self.file = file
        try onFiles { () throws(FileSystemError) in try file.write(bytes, at: 0) }
    }

    deinit { file.close() }

    func add(kind: UInt8, payload: [UInt8]) throws(LogError) {
        try withBytes(of: payload) { bytes throws(LogError) in try add(kind: kind, payload: bytes) }
    }

    func add(kind: UInt8, payload: UnsafeRawBufferPointer) throws(LogError) {
        precondition(!isSealed, "the segment is sealed")
        guard payload.count <= LogFormat.maximumPayload else {
            throw .recordTooLarge(bytes: payload.count, maximum: LogFormat.maximumPayload)
        }
        guard encoder.end.nextSequence < .max - UInt64(recordsInBlock) - 1 else { throw .sequenceExhausted }
        let size = RecordCoding.encodedSize(payload: payload.count)
        if recordsInBlock > 0, raw.count + size > LogFormat.targetBlockRaw { try writeBlock() }
        RecordCoding.encode(kind: kind, payload: payload, into: &raw)
        recordsInBlock += 1
        recordCount += 1
    }

    /// Writes the remaining records, the footer and the trailer, and syncs the file.
    ///
    /// Requires at least one record.
    ///
    /// - Returns: The size of the file in bytes.
    func seal() throws(LogError) -> UInt64 {
        precondition(!isSealed && recordCount > 0, "a segment with a seal has a record")
        if recordsInBlock > 0 { try writeBlock() }
        let seal = encoder.sealBytes()
        let offset = encoder.end.offset
        try onFiles { () throws(FileSystemError) in
            try file.write(seal, at: offset)
            try file.sync()
        }
        isSealed = true
        return offset + UInt64(seal.count)
    }

    private func writeBlock() throws(LogError) {
        try encoder.encode(raw: raw, recordCount: recordsInBlock)
        let offset = encoder.offset
        try onFiles { () throws(FileSystemError) in try file.write(encoder.bytes, at: offset) }
        encoder.didWrite()
        raw.removeAll(keepingCapacity: true)
        recordsInBlock = 0
    }
}
