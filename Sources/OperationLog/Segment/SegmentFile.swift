/// A reader for the structures of an open segment. It never writes.
///
/// It buffers one part of the file. The part is read again if a structure in it is invalid, because a writer may have
/// been writing it.
final class SegmentFile {
    let path: String
    let header: SegmentHeader
    let binding: SegmentBinding
    /// The chain value before the first record.
    let chain: UInt32
    let file: any File

    private var buffer: [UInt8] = []
    private var bufferOffset: UInt64 = 0

    private static let readAhead = 262_144

    /// A position at which a block may begin, and the values that this block must continue.
    struct Position: Equatable {
        var offset: UInt64
        var nextSequence: UInt64
        var chain: UInt32
    }

    struct Block {
        let header: BlockHeader
        let offset: UInt64
        /// The payload as stored in the file.
        let payload: ArraySlice<UInt8>
        /// The cipher that ``payload`` is encrypted with.
        let cipher: SegmentCipher?
        /// The position after the block.
        let next: Position
    }

    enum Step {
        case records(Block)
        case footer(Block, SegmentFooter)
        /// A block of a type that may be skipped.
        case other(Block)
        /// The file ends here, between two structures.
        case end
        case invalid(LogFault)
    }

    /// Opens a segment of a log.
    ///
    /// - Throws: ``LogError/damaged(_:)`` if the header is invalid; ``LogError/keyRequired(path:)`` or
    ///   ``LogError/wrongKey(path:)`` if the segment is encrypted with none of the keys.
    convenience init(
        _ fileSystem: any FileSystem, directory: String, _ form: SegmentName.LogFileKind = .segment,
        firstSequence: UInt64,
        mode: FileMode, keys: [LogKey]
    ) throws(LogError) {
        try self.init(
            fileSystem, path: directory + "/" + SegmentName.name(form, firstSequence: firstSequence), form,
            firstSequence: firstSequence, mode: mode, keys: keys)
    }

    /// Opens a segment in a file of any name.
    init(
        _ fileSystem: any FileSystem, path: String, _ form: SegmentName.LogFileKind = .segment, firstSequence: UInt64,
        mode: FileMode, keys: [LogKey]
    ) throws(LogError) {
        let file = try onFiles { () throws(FileSystemError) in try fileSystem.open(path, mode) }
        let bytes = try onFiles { () throws(FileSystemError) in
            try file.read(at: 0, count: SegmentHeader.maximumByteCount)
        }
        do {
            header = try SegmentHeader.decode(bytes)
        } catch {
            switch error {
            case .unsupported(let feature): throw .unsupported(path: path, offset: 0, feature: feature)
            case .invalid(let fault):
                throw .damaged(LogDamage(path: path, offset: 0, fault: fault, sequence: firstSequence))
            }
        }
        guard header.firstSequence == firstSequence else {
            let fault = LogFault.sequenceGap(expected: firstSequence, found: header.firstSequence)
            throw .damaged(LogDamage(path: path, offset: 0, fault: fault, sequence: firstSequence))
        }
        guard header.isSnapshot == (form == .snapshot) else {
            let fault = LogFault.outOfRange(field: SegmentHeader.Layout.flags.name)
            throw .damaged(LogDamage(path: path, offset: 0, fault: fault, sequence: firstSequence))
        }
        (binding, chain) = try header.unlocked(with: keys, path: path)
        self.path = path
        self.file = file
    }

    /// Creates a reader with a header that does not match the file's name, or that the file no longer contains.
    init(path: String, file: any File, header: SegmentHeader, keys: [LogKey]) throws(LogError) {
        (binding, chain) = try header.unlocked(with: keys, path: path)
        self.header = header
        self.path = path
        self.file = file
    }

    deinit { file.close() }

    /// The position after the segment header.
    var start: Position {
        Position(offset: UInt64(header.byteCount), nextSequence: header.firstSequence, chain: chain)
    }

    func size() throws(LogError) -> UInt64 {
        try onFiles { () throws(FileSystemError) in try file.size() }
    }

    func damage(_ fault: LogFault, at position: Position) -> LogError {
        .damaged(LogDamage(path: path, offset: position.offset, fault: fault, sequence: position.nextSequence))
    }

    // MARK: Structures

    /// Reads the structure at the position.
    ///
    /// Checks everything that can be checked without decompressing: both checksums, ranges, sequence number and chain.
    ///
    /// - Throws: An error if the file cannot be read or requires a feature that this version does not support.
    func step(at position: Position) throws(LogError) -> Step {
        let bytes = try self.bytes(at: position.offset, count: BlockHeader.Layout.byteCount)
        if bytes.isEmpty { return .end }
        let header: BlockHeader
        do {
            header = try BlockHeader.decode(bytes, binding: binding)
        } catch {
            return .invalid(error)
        }
        if let feature = header.unsupportedFeature {
            throw .unsupported(path: path, offset: position.offset, feature: feature)
        }
        if let fault = header.rangeFault(in: binding) ?? header.placeFault(at: position) { return .invalid(fault) }

        let payloadOffset = position.offset + UInt64(BlockHeader.Layout.byteCount)
        let payload = try self.bytes(at: payloadOffset, count: Int(header.storedLength))
        guard payload.count == Int(header.storedLength) else { return .invalid(.endsEarly) }
        guard crc32c(payload) == header.payloadChecksum else { return .invalid(.payloadChecksum) }
        let next = Position(
            offset: payloadOffset + UInt64(payload.count), nextSequence: header.nextSequence,
            chain: header.chainAfter)
        let block = Block(
            header: header, offset: position.offset, payload: payload, cipher: binding.cipher, next: next)
        switch header.type {
        case BlockType.records: return .records(block)
        case BlockType.footer:
            guard let footer = SegmentFooter.decode(payload, firstSequence: self.header.firstSequence),
                footer.lastSequence == position.nextSequence - 1
            else { return .invalid(.undecodable(reason: "not a footer")) }
            return .footer(block, footer)
        default: return .other(block)
        }
    }

    /// Returns the intact header at the offset, or nil.
    ///
    /// The header is not checked against its predecessor. Use it for searching, not for reading.
    func header(at offset: UInt64) throws(LogError) -> BlockHeader? {
        let bytes = try self.bytes(at: offset, count: BlockHeader.Layout.byteCount)
        guard let header = try? BlockHeader.decode(bytes, binding: binding),
            header.unsupportedFeature == nil, header.rangeFault(in: binding) == nil
        else { return nil }
        return header
    }

    /// Returns the next intact block header after the offset that satisfies the condition.
    func nextHeader(
        after offset: UInt64, where condition: (BlockHeader) -> Bool
    ) throws(LogError) -> (offset: UInt64, header: BlockHeader)? {
        var offset = offset + 1
        while true {
            let bytes = try self.bytes(at: offset, count: Self.readAhead)
            guard bytes.count >= BlockHeader.Layout.byteCount else { return nil }
            let last = bytes.endIndex - BlockHeader.Layout.byteCount
            for index in bytes.startIndex...last where bytes[index] == LogFormat.blockMagic[0] {
                if let header = try? BlockHeader.decode(bytes[index...], binding: binding),
                    header.unsupportedFeature == nil, header.rangeFault(in: binding) == nil, condition(header)
                {
                    return (offset + UInt64(index - bytes.startIndex), header)
                }
            }
            offset += UInt64(last - bytes.startIndex + 1)
        }
    }

    /// Returns the footer, located from the end of the file, or nil if the file does not end like a sealed one.
    func footerFromEnd() throws(LogError) -> (footer: SegmentFooter, block: Block)? {
        let size = try size()
        let trailerSize = UInt64(SegmentTrailer.Layout.byteCount)
        guard size >= trailerSize else { return nil }
        let bytes = try self.bytes(at: size - trailerSize, count: SegmentTrailer.Layout.byteCount)
        guard let offset = SegmentTrailer.decode(bytes, segmentChecksum: binding.checksum), offset < size,
            let header = try header(at: offset), header.type == BlockType.footer
        else { return nil }
        let position = Position(offset: offset, nextSequence: header.firstSequence, chain: header.chainBefore)
        guard case .footer(let block, let footer) = try step(at: position),
            block.next.offset == size - trailerSize
        else { return nil }
        return (footer, block)
    }

    /// The bytes after a footer block: exactly a trailer, fewer bytes, or more.
    enum Ending {
        case trailer
        case incomplete
        case bytesAfter
    }

    func ending(after footer: Block) throws(LogError) -> Ending {
        let bytes = try self.bytes(at: footer.next.offset, count: SegmentTrailer.Layout.byteCount + 1)
        if bytes.count > SegmentTrailer.Layout.byteCount { return .bytesAfter }
        return SegmentTrailer.decode(bytes, segmentChecksum: binding.checksum) == footer.offset ? .trailer : .incomplete
    }

    // MARK: Bytes

    /// Discards the buffer, so that the next step reads the current content of the file.
    func refresh() {
        buffer = []
    }

    /// Returns up to `count` bytes; fewer only at the end of the file.
    func bytes(at offset: UInt64, count: Int) throws(LogError) -> ArraySlice<UInt8> {
        if offset >= bufferOffset, offset - bufferOffset <= UInt64(buffer.count) {
            let start = Int(offset - bufferOffset)
            if buffer.count - start >= count { return buffer[start..<start + count] }
        }
        buffer = []
        // A large block is not buffered: it would occupy memory in addition to its decompressed content.
        if count > Self.readAhead {
            return try onFiles { () throws(FileSystemError) in try file.read(at: offset, count: count) }[...]
        }
        buffer = try onFiles { () throws(FileSystemError) in
            try file.read(at: offset, count: Self.readAhead)
        }
        bufferOffset = offset
        return buffer.prefix(count)
    }
}

extension SegmentFile.Block {
    /// The decrypted payload, or nil if it is not authentic.
    var content: ArraySlice<UInt8>? {
        guard let cipher else { return payload }
        return cipher.open(payload, header)?[...]
    }
}

extension BlockHeader {
    /// Returns why an intact block does not belong at the position, or nil.
    func placeFault(at position: SegmentFile.Position) -> LogFault? {
        if firstSequence != position.nextSequence {
            return .sequenceGap(expected: position.nextSequence, found: firstSequence)
        }
        return chainBefore == position.chain ? nil : .brokenChain
    }
}
