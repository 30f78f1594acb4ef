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
    fileprivate var mayBeChangedBit: Bool {
        switch self {
        case .wrongMagic, .headerChecksum, .payloadChecksum: true
        default: false
        }
    }
}

extension SegmentFile {
    /// Whether an invalid structure in the last segment is the trace of a crash while it was written.
    ///
    /// It is damage if the structure holds once a single bit is corrected: a crash leaves bytes out, and does not change
    /// bits. It is damage, too, if an intact block behind it says that everything before it had been durable.
    func isTorn(_ fault: LogFault, at position: Position) throws(LogError) -> Bool {
        guard fault.mayBeTorn else { return false }
        if fault.mayBeChangedBit, try hasChangedBit(at: position) { return false }
        let witness = try nextHeader(after: position.offset) { header in
            header.flags.contains(.predecessorsDurable) && header.firstSequence >= position.nextSequence
        }
        return witness == nil
    }

    private func hasChangedBit(at position: Position) throws(LogError) -> Bool {
        let head = Array(try bytes(at: position.offset, count: BlockHeader.Layout.byteCount))
        guard head.count == BlockHeader.Layout.byteCount else { return false }
        if let header = try? BlockHeader.decode(head[...], binding: binding) {
            let payload = Array(try payload(of: header, at: position))
            guard payload.count == Int(header.storedLength),
                let place = ChangedBit.place(in: payload, checksum: header.payloadChecksum)
            else { return false }
            return !ChangedBit.mayBeMissing(place, in: payload)
        }
        for bit in 0..<head.count * 8 {
            var corrected = head
            corrected[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let header = try? BlockHeader.decode(corrected[...], binding: binding),
                header.unsupportedFeature == nil, header.rangeFault(in: binding) == nil,
                header.placeFault(at: position) == nil
            else { continue }
            let payload = try payload(of: header, at: position)
            guard payload.count == Int(header.storedLength), crc32c(payload) == header.payloadChecksum else { continue }
            return !ChangedBit.mayBeMissing(bit / 8, in: head)
        }
        return false
    }

    private func payload(of header: BlockHeader, at position: Position) throws(LogError) -> ArraySlice<UInt8> {
        guard header.storedLength <= UInt32(LogFormat.maximumBlockStored) else { return [] }
        return try bytes(
            at: position.offset + UInt64(BlockHeader.Layout.byteCount), count: Int(header.storedLength))
    }
}

/// Finds the one bit whose change explains a checksum that does not hold.
enum ChangedBit {
    /// The byte whose change in one bit gives the bytes this CRC-32C; nil if there is none.
    ///
    /// The checksum is linear: what a bit changes in it depends on the bit and on the number of bytes behind it alone.
    static func place(in bytes: [UInt8], checksum: UInt32) -> Int? {
        let difference = crc32c(bytes[...]) ^ checksum
        guard difference != 0 else { return nil }
        let table = (0..<256).map { Self.remainder(of: UInt32($0)) }
        var effects = (0..<8).map { table[1 << $0] }
        for place in bytes.indices.reversed() {
            if effects.contains(difference) { return place }
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
    static let smallestGap = 8

    /// Whether the byte is zero and in a row of zeroes that may be a gap: one of eight or more, or at an end.
    static func mayBeMissing(_ place: Int, in bytes: [UInt8]) -> Bool {
        guard bytes[place] == 0 else { return false }
        var (first, last) = (place, place)
        while first > 0, bytes[first - 1] == 0 { first -= 1 }
        while last < bytes.count - 1, bytes[last + 1] == 0 { last += 1 }
        return first == 0 || last == bytes.count - 1 || last - first + 1 >= smallestGap
    }
}
