/// The types of blocks. A reader may skip unknown types from 128 on; other unknown types are an error.
enum BlockType {
    static let records: UInt8 = 1
    static let footer: UInt8 = 2
    static let skippable: UInt8 = 0x80
}

/// The encodings of a block's payload.
enum BlockMethod {
    /// The raw bytes.
    static let stored: UInt8 = 0
    /// A flushed part of the run's zstd frame.
    static let zstdRun: UInt8 = 1
    /// A zstd frame of the records' column form, ``ColumnForm``. Each such block is a run.
    static let zstdColumns: UInt8 = 2
}

struct BlockFlags: OptionSet {
    let rawValue: UInt8

    /// The block can be decompressed without its predecessors.
    static let startsRun = BlockFlags(rawValue: 1)
    /// The commit continues in the next block.
    static let commitContinues = BlockFlags(rawValue: 2)
    /// Everything before this block was durable before the block was written.
    ///
    /// If such a block is intact, an invalid block before it is therefore damage and not the result of a crash.
    static let predecessorsDurable = BlockFlags(rawValue: 4)

    static let known: BlockFlags = [.startsRun, .commitContinues, .predecessorsDurable]
}

struct BlockHeader: Equatable {
    enum Layout {
        static let magic = FieldLayout("magic", 0, 4)
        static let type = FieldLayout("type", 4, 1)
        static let method = FieldLayout("method", 5, 1)
        static let flags = FieldLayout("flags", 6, 1)
        static let reserved = FieldLayout("reserved", 7, 1)
        static let firstSequence = FieldLayout("first sequence", 8, 8)
        static let recordCount = FieldLayout("record count", 16, 4)
        static let rawLength = FieldLayout("raw length", 20, 4)
        static let storedLength = FieldLayout("stored length", 24, 4)
        static let chainBefore = FieldLayout("chain before", 28, 4)
        static let chainAfter = FieldLayout("chain after", 32, 4)
        static let payloadChecksum = FieldLayout("payload checksum", 36, 4)
        static let checksum = FieldLayout("header checksum", 40, 4)
        static let byteCount = 44

        static let all = [
            magic, type, method, flags, reserved, firstSequence, recordCount, rawLength, storedLength, chainBefore,
            chainAfter, payloadChecksum, checksum,
        ]
    }

    var type: UInt8
    var method: UInt8
    var flags: BlockFlags
    var reserved: UInt8 = 0
    var firstSequence: UInt64
    var recordCount: UInt32
    var rawLength: UInt32
    var storedLength: UInt32
    var chainBefore: UInt32
    var chainAfter: UInt32
    var payloadChecksum: UInt32

    /// The sequence number after the block's last record. ``rangeFault`` ensures that it does not overflow.
    var nextSequence: UInt64 { firstSequence &+ UInt64(recordCount) }

    /// Writes the header over the bytes reserved for it at `start`.
    func encode(into bytes: inout [UInt8], at start: Int, binding: SegmentBinding) {
        masked(by: binding).store(into: &bytes, at: start)
        let checksum = crc32c(
            of: bytes, in: start..<start + Layout.checksum.offset, continuing: binding.checksum)
        bytes.store(checksum, Layout.checksum, in: start)
    }

    /// Writes all fields except the header's checksum, with unmasked chain values.
    func store(into bytes: inout [UInt8], at start: Int) {
        bytes.store(LogFormat.blockMagic, Layout.magic, in: start)
        bytes.store(type, Layout.type, in: start)
        bytes.store(method, Layout.method, in: start)
        bytes.store(flags.rawValue, Layout.flags, in: start)
        bytes.store(reserved, Layout.reserved, in: start)
        bytes.store(firstSequence, Layout.firstSequence, in: start)
        bytes.store(recordCount, Layout.recordCount, in: start)
        bytes.store(rawLength, Layout.rawLength, in: start)
        bytes.store(storedLength, Layout.storedLength, in: start)
        bytes.store(chainBefore, Layout.chainBefore, in: start)
        bytes.store(chainAfter, Layout.chainAfter, in: start)
        bytes.store(payloadChecksum, Layout.payloadChecksum, in: start)
    }

    /// Decodes a header without validating its fields.
    ///
    /// - Throws: A fault if the bytes are not a header of this segment.
    static func decode(_ bytes: ArraySlice<UInt8>, binding: SegmentBinding) throws(LogFault) -> BlockHeader {
        guard bytes.count >= Layout.byteCount else { throw .endsEarly }
        let bytes = bytes.prefix(Layout.byteCount)
        guard bytes.bytes(Layout.magic).elementsEqual(LogFormat.blockMagic) else {
            throw bytes.allSatisfy { $0 == 0 } ? .zeroes : .wrongMagic
        }
        let stored: UInt32 = bytes.load(Layout.checksum)
        guard stored == crc32c(bytes.prefix(Layout.checksum.offset), continuing: binding.checksum) else {
            throw .headerChecksum
        }
        return BlockHeader(
            type: bytes.load(Layout.type), method: bytes.load(Layout.method),
            flags: BlockFlags(rawValue: bytes.load(Layout.flags)), reserved: bytes.load(Layout.reserved),
            firstSequence: bytes.load(Layout.firstSequence), recordCount: bytes.load(Layout.recordCount),
            rawLength: bytes.load(Layout.rawLength), storedLength: bytes.load(Layout.storedLength),
            chainBefore: bytes.load(Layout.chainBefore), chainAfter: bytes.load(Layout.chainAfter),
            payloadChecksum: bytes.load(Layout.payloadChecksum)
        ).masked(by: binding)
    }

    /// Returns the header with masked chain values if the segment is encrypted. Masking twice restores the values.
    private func masked(by binding: SegmentBinding) -> BlockHeader {
        guard let masks = binding.cipher?.keys.masks(of: self) else { return self }
        var header = self
        header.chainBefore ^= masks.before
        header.chainAfter ^= masks.after
        return header
    }

    /// The feature that an intact header requires and this version does not support, or nil.
    var unsupportedFeature: String? {
        if type & BlockType.skippable == 0, type != BlockType.records, type != BlockType.footer {
            return "block type \(type)"
        }
        if !flags.isSubset(of: .known) { return "block flags \(flags.rawValue)" }
        if reserved != 0 { return "a reserved byte of \(reserved)" }
        if type == BlockType.records, method > BlockMethod.zstdColumns {
            return "compression method \(method)"
        }
        if type == BlockType.footer, method != BlockMethod.stored { return "compression method \(method) of a footer" }
        return nil
    }

    /// Returns a fault if an intact header contains a value that no writer produces.
    func rangeFault(in binding: SegmentBinding) -> LogFault? {
        if storedLength > UInt32(LogFormat.maximumBlockStored) {
            return .outOfRange(field: Layout.storedLength.name)
        }
        if rawLength > UInt32(LogFormat.maximumBlockRaw) { return .outOfRange(field: Layout.rawLength.name) }
        if firstSequence == 0 { return .outOfRange(field: Layout.firstSequence.name) }
        if firstSequence.addingReportingOverflow(UInt64(recordCount)).overflow {
            return .outOfRange(field: Layout.firstSequence.name)
        }
        if type == BlockType.records {
            // A record takes at least two bytes.
            if recordCount == 0 || recordCount > rawLength / 2 { return .outOfRange(field: Layout.recordCount.name) }
        } else if recordCount != 0 || chainBefore != chainAfter {
            return .outOfRange(field: Layout.recordCount.name)
        }
        let overhead = type == BlockType.records ? UInt32(binding.overhead) : 0
        if storedLength < overhead { return .outOfRange(field: Layout.storedLength.name) }
        if method == BlockMethod.stored, rawLength != storedLength - overhead {
            return .outOfRange(field: Layout.rawLength.name)
        }
        return nil
    }
}
