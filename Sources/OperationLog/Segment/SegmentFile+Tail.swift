extension LogFault {
    /// Whether a crash while writing can leave this behind. Everything else cannot happen to bytes that a writer was
    /// about to write at the end of a file.
    var mayBeTorn: Bool {
        switch self {
        case .endsEarly, .zeroes, .wrongMagic, .headerChecksum, .payloadChecksum, .unfinishedCommit: true
        default: false
        }
    }

    /// Whether all of the structure is there, so that a changed bit would explain the fault.
    var mayBeChangedBit: Bool {
        switch self {
        case .wrongMagic, .headerChecksum, .payloadChecksum: true
        default: false
        }
    }
}

extension SegmentFile {
    /// Whether an invalid structure in the last segment is the trace of a crash while it was written.
    ///
    /// It is damage if the log is known to have gone further; and if the structure holds once a single bit is corrected: a
    /// crash leaves bytes out, and does not change bits. It is damage, too, if an intact block behind it says that everything
    /// before it had been durable.
    ///
    /// - Parameter recorded: How far the log went at some time.
    func isTorn(_ fault: LogFault, at position: Position, recorded: LogEnd?) throws(LogError) -> Bool {
        guard fault.mayBeTorn, self.fault(ofEndAt: position, recorded: recorded) == nil else { return false }
        if fault.mayBeChangedBit, let bit = try changedBit(at: position), !bit.mayBeMissing { return false }
        let witness = try nextHeader(after: position.offset) { header in
            header.flags.contains(.predecessorsDurable) && header.firstSequence >= position.nextSequence
        }
        return witness == nil
    }

    /// The one bit with whose correction the block at the position holds; nil if there is none.
    ///
    /// - Parameter headerOnly: Of a header that does not hold the bit is wanted with which it does, whatever the payload is.
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

/// A bit of a file whose correction makes a structure hold.
struct ChangedBit {
    /// Of its byte, in the file.
    let offset: UInt64
    /// In the byte; the lowest is 0.
    let bit: UInt8
    /// Whether the byte may as well be one of several that were not written.
    let mayBeMissing: Bool

    /// The bit with the number `bit`, counted from the lowest of the first byte, of a structure that begins at the offset.
    init(_ bit: Int, in bytes: [UInt8], at offset: UInt64) {
        self.offset = offset + UInt64(bit / 8)
        self.bit = UInt8(bit % 8)
        mayBeMissing = Self.mayBeMissing(bit / 8, in: bytes)
    }

    /// The bit whose change gives the bytes this CRC-32C; nil if there is none.
    ///
    /// The checksum is linear: what a bit changes in it depends on the bit and on the number of bytes behind it alone.
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

    /// Of one byte, by the reflected polynomial of CRC-32C.
    private static func remainder(of byte: UInt32) -> UInt32 {
        var value = byte
        for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : value >> 1 ^ 0x82F6_3B78 }
        return value
    }

    /// The least number of bytes that a crash leaves out within a structure.
    private static let smallestGap = 8

    /// Whether the byte is zero and in a row of zeroes that may be a gap: one of eight or more, or at an end.
    private static func mayBeMissing(_ place: Int, in bytes: [UInt8]) -> Bool {
        guard bytes[place] == 0 else { return false }
        var (first, last) = (place, place)
        while first > 0, bytes[first - 1] == 0 { first -= 1 }
        while last < bytes.count - 1, bytes[last + 1] == 0 { last += 1 }
        return first == 0 || last == bytes.count - 1 || last - first + 1 >= smallestGap
    }
}
