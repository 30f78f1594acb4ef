import CPlatform

/// Corrects the checksums, the chain and the lengths in a changed segment, so that fuzzing reaches the code after these
/// checks.
///
/// Implements the format as described in `Docs/LogFormat.md`, independently of the code under test.
struct ChecksumRepair {
    private var bytes: [UInt8]
    private let segmentChecksum: UInt32
    /// Whether the segment is encrypted. Its chain is masked in this case and is not changed.
    private let isEncrypted: Bool
    private let headerSize: Int
    private var chain: UInt32

    /// Returns the segment with a corrected header and corrected blocks from `start` on.
    static func segment(_ bytes: [UInt8], from start: Int = 0) -> [UInt8] {
        let isEncrypted = bytes.count > 10 && bytes[8] == 2
        let size = isEncrypted ? 96 : 64
        guard bytes.count >= size else { return bytes }
        var bytes = bytes
        if start == 0 { bytes.store(crc(bytes[..<(size - 4)]), at: size - 4) }
        var repair = ChecksumRepair(
            bytes: bytes, segmentChecksum: bytes.load(size - 4), isEncrypted: isEncrypted, headerSize: size,
            chain: bytes.load(40))
        repair.blocks(from: start)
        return repair.bytes
    }

    private mutating func blocks(from start: Int) {
        // Everything before `start` is correct; only its chain is needed.
        var offset = headerSize
        while offset + 44 <= bytes.count, bytes[offset..<offset + 4].elementsEqual("TLBK".utf8) {
            let length = Int(bytes.load(offset + 24))
            guard length <= bytes.count - offset - 44 else { break }
            if offset >= start { block(at: offset, length: length) }
            chain = bytes.load(offset + 32)
            offset += 44 + length
        }
        if offset + 16 == bytes.count, offset >= start {
            bytes.store(Self.crc(bytes[offset..<offset + 8], segmentChecksum), at: offset + 8)
        }
    }

    private mutating func block(at offset: Int, length: Int) {
        let payload = bytes[offset + 44..<offset + 44 + length]
        let (type, method) = (bytes[offset + 4], bytes[offset + 5])
        if !isEncrypted { bytes.store(chain, at: offset + 28) }
        if isEncrypted {
            // The chain is not changed.
        } else if type != 1 {
            bytes.store(chain, at: offset + 32)
        } else if method == 0 {
            bytes.store(UInt32(length), at: offset + 20)
            bytes.store(Self.crc(payload, chain), at: offset + 32)
        }
        bytes.store(Self.crc(payload), at: offset + 36)
        bytes.store(Self.crc(bytes[offset..<offset + 40], segmentChecksum), at: offset + 40)
    }

    static func crc(_ bytes: ArraySlice<UInt8>, _ start: UInt32 = 0) -> UInt32 {
        bytes.withUnsafeBytes { tidelog_crc32c(start, $0.baseAddress, $0.count) }
    }
}

extension [UInt8] {
    fileprivate func load(_ offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(self[offset + $1]) << UInt32(8 * $1) }
    }

    fileprivate mutating func store(_ number: UInt32, at offset: Int) {
        for index in 0..<4 { self[offset + index] = UInt8(truncatingIfNeeded: number >> UInt32(8 * index)) }
    }
}
