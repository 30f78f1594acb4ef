/// Turns intact blocks into raw record bytes, one after the other.
struct BlockDecoder {
    private var decompressor: RunDecompressor?
    /// The method of the run that the last block belongs to; nil where no run can go on.
    private var method: UInt8?

    /// The block's raw bytes. Blocks of one run must come in order and without gaps.
    mutating func decode(_ block: SegmentFile.Block) throws(BlockDecodingError) -> [UInt8] {
        let header = block.header
        if header.flags.contains(.startsRun) {
            method = header.method
            if header.method != BlockMethod.stored { try context().startRun() }
        } else if method != header.method || header.method == BlockMethod.columns {
            method = nil
            throw .fault(.runInterrupted)
        }
        guard let content = block.content else {
            method = nil
            throw .fault(.notAuthentic)
        }
        let raw: [UInt8]
        switch header.method {
        case BlockMethod.stored: raw = Array(content)
        case BlockMethod.columns: raw = try decode(columns: content, header)
        default: raw = try decompress(content, length: Int(header.rawLength))
        }
        guard crc32c(raw[...], continuing: header.chainBefore) == header.chainAfter else {
            method = nil
            throw .fault(.undecodable(reason: "the content is not what the chain says"))
        }
        return raw
    }

    private mutating func decode(
        columns content: ArraySlice<UInt8>, _ header: BlockHeader
    ) throws(BlockDecodingError) -> [UInt8] {
        guard content.count >= ColumnLayout.lengthField.size else {
            method = nil
            throw .fault(.undecodable(reason: "no columns"))
        }
        let length: UInt32 = content.load(ColumnLayout.lengthField)
        guard length <= UInt32(LogFormat.maximumBlockRaw) else {
            method = nil
            throw .fault(.outOfRange(field: ColumnLayout.lengthField.name))
        }
        // Handed over, not kept: there is room for one copy only.
        let raw = ColumnReader.raw(
            try decompress(content.dropFirst(ColumnLayout.lengthField.size), length: Int(length)),
            recordCount: Int(header.recordCount), rawLength: Int(header.rawLength))
        guard let raw else {
            method = nil
            throw .fault(.undecodable(reason: "the columns are not those of such records"))
        }
        return raw
    }

    private mutating func decompress(
        _ content: ArraySlice<UInt8>, length: Int
    ) throws(BlockDecodingError) -> [UInt8] {
        switch try context().decompress(content, rawLength: length) {
        case .raw(let bytes): return bytes
        case .undecodable(let reason):
            method = nil
            throw .fault(.undecodable(reason: reason))
        }
    }

    /// A block was left out.
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
    /// Nothing is wrong with the block.
    case other(LogError)
}

/// The records of one block's raw bytes.
struct RecordWalk {
    private let raw: [UInt8]
    private var offset = 0
    private(set) var sequence: UInt64
    private(set) var remaining: UInt32

    init(_ raw: [UInt8], header: BlockHeader) {
        self.raw = raw
        sequence = header.firstSequence
        remaining = header.recordCount
    }

    /// Nil behind the last record. Throws where the bytes hold fewer, or more, than the header says.
    mutating func next() throws(LogFault) -> LogRecord? {
        guard let (kind, payload) = try step() else { return nil }
        let record = LogRecord(sequence: sequence, kind: kind, payload: Array(raw[payload]))
        sequence += 1
        return record
    }

    /// Passes over the records in front of the sequence number.
    mutating func skip(to wanted: UInt64) throws(LogFault) {
        while sequence < wanted, try step() != nil { sequence += 1 }
    }

    private mutating func step() throws(LogFault) -> (kind: UInt8, payload: Range<Int>)? {
        guard remaining > 0 else {
            guard offset == raw.count else { throw .undecodable(reason: "bytes behind the last record") }
            return nil
        }
        guard let found = RecordCoding.decode(raw, at: &offset) else {
            throw .undecodable(reason: "a record's length")
        }
        remaining -= 1
        return found
    }
}
