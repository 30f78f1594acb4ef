/// Decodes the payloads of intact blocks into raw record bytes, in order.
struct BlockDecoder {
    private var decompressor: RunDecompressor?
    private var columns = ColumnDecoder()
    /// The method of the last block's run, or nil if no run can continue.
    private var method: UInt8?

    /// Returns the block's raw bytes. Blocks of one run must be passed in order and without gaps.
    mutating func decode(_ block: SegmentFile.Block) throws(BlockDecodingError) -> [UInt8] {
        let header = block.header
        let content = try content(of: block)
        let length = Int(header.rawLength)
        let raw: [UInt8]
        switch header.method {
        case BlockMethod.stored: raw = Array(content)
        case BlockMethod.zstdColumns:
            let form = try form(content, header)
            guard let made = columns.decode(form, recordCount: header.recordCount, rawLength: length) else {
                throw noColumns()
            }
            raw = made
        default: raw = try bytes(of: try context().decompress(content, rawLength: length))
        }
        guard crc32c(raw[...], continuing: header.chainBefore) == header.chainAfter else {
            method = nil
            throw .fault(.undecodable(reason: "the content does not match the chain"))
        }
        return raw
    }

    /// Returns the block's column form without decoding it into raw bytes.
    ///
    /// The content is therefore not verified against the chain; only the checksum of the stored bytes was.
    mutating func decodeColumns(_ block: SegmentFile.Block) throws(BlockDecodingError) -> ColumnBlock {
        let header = block.header
        let form = try form(try content(of: block), header)
        let columns = ColumnBlock(
            form, firstSequence: header.firstSequence, recordCount: header.recordCount, rawLength: Int(header.rawLength)
        )
        guard let columns else { throw noColumns() }
        return columns
    }

    /// Returns the compressed payload, decrypted if the segment is encrypted.
    private mutating func content(of block: SegmentFile.Block) throws(BlockDecodingError) -> ArraySlice<UInt8> {
        let header = block.header
        if header.flags.contains(.startsRun) {
            method = header.method
            if header.method != BlockMethod.stored { try context().startRun() }
        } else if method != header.method || header.method == BlockMethod.zstdColumns {
            method = nil
            throw .fault(.runInterrupted)
        }
        guard let content = block.content else {
            method = nil
            throw .fault(.notAuthentic)
        }
        return content
    }

    private mutating func form(
        _ content: ArraySlice<UInt8>, _ header: BlockHeader
    ) throws(BlockDecodingError) -> [UInt8] {
        // The column form is written only if it is shorter than the raw bytes.
        try bytes(of: try context().decompress(content, atMost: Int(header.rawLength)))
    }

    private mutating func bytes(of outcome: RunDecompressor.Outcome) throws(BlockDecodingError) -> [UInt8] {
        switch outcome {
        case .raw(let bytes): return bytes
        case .undecodable(let reason):
            method = nil
            throw .fault(.undecodable(reason: reason))
        }
    }

    private mutating func noColumns() -> BlockDecodingError {
        method = nil
        return .fault(.undecodable(reason: "not the columns of these records"))
    }

    /// Ends the current run because a block was left out.
    mutating func interrupt() {
        method = nil
    }

    private mutating func context() throws(BlockDecodingError) -> RunDecompressor {
        if let decompressor { return decompressor }
        do {
            let made = try RunDecompressor()
            decompressor = made
            return made
        } catch {
            throw .other(error)
        }
    }
}

enum BlockDecodingError: Error {
    case fault(LogFault)
    /// An error that is not caused by the block.
    case other(LogError)
}

/// An iterator over the records in one block's raw bytes.
struct RecordWalk {
    private let raw: [UInt8]
    private var offset = 0
    private(set) var sequence: UInt64
    private(set) var remaining: UInt32
    private let last: UInt64

    /// - Parameter last: The last record to return.
    init(_ raw: [UInt8], header: BlockHeader, through last: UInt64 = .max) {
        self.raw = raw
        self.last = last
        sequence = header.firstSequence
        remaining = header.recordCount
    }

    /// Returns the next record, or nil after the last one.
    ///
    /// - Throws: A fault if the bytes contain fewer or more records than the header states.
    mutating func next() throws(LogFault) -> LogRecord? {
        guard sequence <= last, let (kind, payload) = try step() else { return nil }
        let record = LogRecord(sequence: sequence, kind: kind, bytes: raw[payload])
        sequence += 1
        return record
    }

    /// Skips the records before the sequence number.
    mutating func skip(to wanted: UInt64) throws(LogFault) {
        while sequence < wanted, try step() != nil { sequence += 1 }
    }

    private mutating func step() throws(LogFault) -> (kind: UInt8, payload: Range<Int>)? {
        guard remaining > 0 else {
            guard offset == raw.count else { throw .undecodable(reason: "bytes after the last record") }
            return nil
        }
        guard let found = RecordCoding.decode(raw, at: &offset) else {
            throw .undecodable(reason: "a record's length")
        }
        remaining -= 1
        return found
    }
}
