extension LogFault {
    /// Whether a crash during a write can cause the fault.
    ///
    /// Other faults cannot occur in bytes that a writer was appending at the end of a file.
    var mayBeTorn: Bool {
        switch self {
        case .endsEarly, .zeroes, .wrongMagic, .headerChecksum, .payloadChecksum, .unfinishedCommit: true
        default: false
        }
    }

    /// Whether the structure is complete, so that a changed bit can explain the fault.
    var mayBeChangedBit: Bool {
        switch self {
        case .wrongMagic, .headerChecksum, .payloadChecksum: true
        default: false
        }
    }
}

extension SegmentFile {
    /// Returns whether an invalid structure in the last segment is the result of a crash while it was written.
    ///
    /// It is damage if the log is known to have been longer, or if the structure is valid after the correction of a
    /// single bit, because a crash omits bytes but does not change bits. It is also damage if an intact block after it
    /// states that everything before that block was durable.
    ///
    /// - Parameter recorded: The recorded end of the log.
    func isTorn(_ fault: LogFault, at position: Position, recorded: LogEnd?) throws(LogError) -> Bool {
        guard fault.mayBeTorn, self.fault(ofEndAt: position, recorded: recorded) == nil else { return false }
        if fault.mayBeChangedBit, let bit = try changedBit(at: position), !bit.mayBeMissing { return false }
        let witness = try nextHeader(after: position.offset) { header in
            header.flags.contains(.predecessorsDurable) && header.firstSequence >= position.nextSequence
        }
        return witness == nil
    }

    /// Returns the single bit whose correction makes the block at the position valid, or nil.
    ///
    /// - Parameter headerOnly: Whether to correct an invalid header regardless of its payload.
    func changedBit(at position: Position, headerOnly: Bool = false) throws(LogError) -> ChangedBit? {
        let head = Array(try bytes(at: position.offset, count: BlockHeader.Layout.byteCount))
        guard head.count == BlockHeader.Layout.byteCount else { return nil }
        if let header = try? BlockHeader.decode(head[...], binding: binding) {
            let payload = Array(try payload(of: header, at: position))
            guard payload.count == Int(header.storedLength) else { return nil }
            let offset = position.offset + UInt64(BlockHeader.Layout.byteCount)
            return ChangedBit.find(in: payload, at: offset, checksum: header.payloadChecksum)
        }
        for bit in 0..<head.count * 8 {
            var corrected = head
            corrected[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let header = try? BlockHeader.decode(corrected[...], binding: binding),
                header.unsupportedFeature == nil, header.rangeFault(in: binding) == nil,
                header.placeFault(at: position) == nil
            else { continue }
            if !headerOnly {
                let payload = try payload(of: header, at: position)
                guard payload.count == Int(header.storedLength), crc32c(payload) == header.payloadChecksum
                else { continue }
            }
            return ChangedBit(bit, in: head, at: position.offset)
        }
        return nil
    }

    private func payload(of header: BlockHeader, at position: Position) throws(LogError) -> ArraySlice<UInt8> {
        guard header.storedLength <= UInt32(LogFormat.maximumBlockStored) else { return [] }
        return try bytes(
            at: position.offset + UInt64(BlockHeader.Layout.byteCount), count: Int(header.storedLength))
    }
}

/// A bit of a file whose correction makes a structure valid.
struct ChangedBit {
    /// The offset of its byte in the file.
    let offset: UInt64
    /// The position in the byte; the lowest bit is 0.
    let bit: UInt8
    /// Whether the byte may instead belong to a gap of bytes that were not written.
    let mayBeMissing: Bool

    /// Creates a bit of a structure that begins at the offset.
    ///
    /// - Parameter bit: The bit's number, counted from the lowest bit of the first byte.
    init(_ bit: Int, in bytes: [UInt8], at offset: UInt64) {
        self.offset = offset + UInt64(bit / 8)
        self.bit = UInt8(bit % 8)
        mayBeMissing = Self.mayBeMissing(bit / 8, in: bytes)
    }

    /// Returns the bit whose inversion gives the bytes this CRC-32C, or nil if there is none. O(*n*).
    ///
    /// The checksum is linear: the effect of a bit depends only on the bit and on the number of bytes after it.
    static func find(in bytes: [UInt8], at offset: UInt64, checksum: UInt32) -> ChangedBit? {
        let difference = crc32c(bytes[...]) ^ checksum
        guard difference != 0 else { return nil }
        let table = (0..<256).map { Self.remainder(of: UInt32($0)) }
        var effects = (0..<8).map { table[1 << $0] }
        for place in bytes.indices.reversed() {
            if let bit = effects.firstIndex(of: difference) {
                return ChangedBit(place * 8 + bit, in: bytes, at: offset)
            }
            for bit in 0..<8 { effects[bit] = effects[bit] >> 8 ^ table[Int(effects[bit] & 0xFF)] }
        }
        return nil
    }

    /// Returns the remainder of one byte by the reflected polynomial of CRC-32C.
    private static func remainder(of byte: UInt32) -> UInt32 {
        var value = byte
        for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : value >> 1 ^ 0x82F6_3B78 }
        return value
    }

    /// The minimum number of bytes that a crash omits within a structure.
    private static let smallestGap = 8

    /// Returns whether the byte is zero and part of a run of zeroes that may be a gap: at least eight, or at an end.
    private static func mayBeMissing(_ place: Int, in bytes: [UInt8]) -> Bool {
        guard bytes[place] == 0 else { return false }
        var (first, last) = (place, place)
        while first > 0, bytes[first - 1] == 0 { first -= 1 }
        while last < bytes.count - 1, bytes[last + 1] == 0 { last += 1 }
        return first == 0 || last == bytes.count - 1 || last - first + 1 >= smallestGap
    }
}
