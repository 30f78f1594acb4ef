/// The first bytes of a segment.
///
/// The header is complete and durable before the file gets its name, so it is never torn.
struct SegmentHeader: Equatable {
    /// The layout of version 1, which version 2 shares up to the checksum.
    enum Layout {
        static let magic = FieldLayout("magic", 0, 8)
        static let version = FieldLayout("version", 8, 2)
        static let size = FieldLayout("header size", 10, 2)
        static let flags = FieldLayout("flags", 12, 4)
        static let storeIdentifier = FieldLayout("store identifier", 16, 16)
        static let firstSequence = FieldLayout("first sequence", 32, 8)
        static let chain = FieldLayout("chain", 40, 4)
        static let keyIdentifier = FieldLayout("key identifier", 44, 16)
        static let checksum = FieldLayout("header checksum", 60, 4)
        static let byteCount = 64

        static let all = common + [checksum]
        static let common = [magic, version, size, flags, storeIdentifier, firstSequence, chain, keyIdentifier]
    }

    /// The layout of version 2, which encrypted segments use.
    enum EncryptedLayout {
        static let cipher = FieldLayout("cipher", 60, 2)
        static let reserved = FieldLayout("reserved", 62, 2)
        static let salt = FieldLayout("salt", 64, 28)
        static let checksum = FieldLayout("header checksum", 92, 4)
        static let byteCount = 96

        static let all = Layout.common + [cipher, reserved, salt, checksum]
    }

    /// The additional fields of an encrypted segment.
    struct Encryption: Equatable {
        let keyIdentifier: [UInt8]
        let salt: [UInt8]
    }

    /// The flag of the segment with which the log begins. No other segment has it.
    static let beginsLog: UInt32 = 1
    /// The flag of snapshots. No segment of records has it.
    static let snapshot: UInt32 = 2
    /// The number of bytes to read for a header of any version.
    static let maximumByteCount = EncryptedLayout.byteCount

    let storeIdentifier: StoreIdentifier
    let firstSequence: UInt64
    /// The chain value after the last record of the preceding segment, masked if the segment is encrypted.
    let storedChain: UInt32
    let isFirst: Bool
    /// Whether the records are the state before the first sequence number instead of appended records.
    var isSnapshot = false
    /// The encryption fields, or nil if the segment is not encrypted.
    let encryption: Encryption?

    var byteCount: Int { encryption == nil ? Layout.byteCount : EncryptedLayout.byteCount }

    func encoded() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        bytes.store(LogFormat.segmentMagic, Layout.magic, in: 0)
        bytes.store(encryption == nil ? LogFormat.version : LogFormat.encryptedVersion, Layout.version, in: 0)
        bytes.store(UInt16(byteCount), Layout.size, in: 0)
        bytes.store((isFirst ? Self.beginsLog : 0) | (isSnapshot ? Self.snapshot : 0), Layout.flags, in: 0)
        bytes.store(storeIdentifier.bytes, Layout.storeIdentifier, in: 0)
        bytes.store(firstSequence, Layout.firstSequence, in: 0)
        bytes.store(storedChain, Layout.chain, in: 0)
        if let encryption {
            bytes.store(encryption.keyIdentifier, Layout.keyIdentifier, in: 0)
            bytes.store(SegmentCipher.aes256GCM, EncryptedLayout.cipher, in: 0)
            bytes.store(encryption.salt, EncryptedLayout.salt, in: 0)
        }
        let checksum = encryption == nil ? Layout.checksum : EncryptedLayout.checksum
        bytes.store(crc32c(bytes[..<checksum.offset]), checksum, in: 0)
        return bytes
    }

    /// Returns the checksum of a complete header, which is its last field.
    static func checksum(of header: [UInt8]) -> UInt32 {
        header[...].load(FieldLayout("header checksum", header.count - 4, 4))
    }

    enum DecodingError: Error {
        case invalid(LogFault)
        case unsupported(String)
    }

    /// Decodes the header at the start of the bytes.
    ///
    /// - Parameter bytes: The first ``maximumByteCount`` bytes of the file, or all bytes of a shorter file.
    static func decode(_ bytes: [UInt8]) throws(DecodingError) -> SegmentHeader {
        guard bytes.count >= Layout.byteCount else { throw .invalid(.endsEarly) }
        guard bytes[...].bytes(Layout.magic).elementsEqual(LogFormat.segmentMagic) else {
            throw .invalid(.wrongMagic)
        }
        let size: UInt16 = bytes[...].load(Layout.size)
        // The checksum is the last field in every version.
        guard Int(size) >= Layout.byteCount, Int(size) <= bytes.count else { throw .invalid(.headerChecksum) }
        let bytes = Array(bytes.prefix(Int(size)))
        guard checksum(of: bytes) == crc32c(bytes[..<(bytes.count - 4)]) else { throw .invalid(.headerChecksum) }
        return try decodeIntact(bytes[...])
    }

    private static func decodeIntact(_ bytes: ArraySlice<UInt8>) throws(DecodingError) -> SegmentHeader {
        let version: UInt16 = bytes.load(Layout.version)
        let flags: UInt32 = bytes.load(Layout.flags)
        let keyIdentifier = Array(bytes.bytes(Layout.keyIdentifier))
        var encryption: Encryption?
        switch (version, bytes.count) {
        case (LogFormat.version, Layout.byteCount):
            guard keyIdentifier.allSatisfy({ $0 == 0 }) else { throw .unsupported("a key in version 1") }
        case (LogFormat.encryptedVersion, EncryptedLayout.byteCount):
            let cipher: UInt16 = bytes.load(EncryptedLayout.cipher)
            guard cipher == SegmentCipher.aes256GCM else { throw .unsupported("cipher \(cipher)") }
            let reserved: UInt16 = bytes.load(EncryptedLayout.reserved)
            guard reserved == 0 else { throw .unsupported("a reserved field of \(reserved)") }
            encryption = Encryption(keyIdentifier: keyIdentifier, salt: Array(bytes.bytes(EncryptedLayout.salt)))
        case (LogFormat.version, _), (LogFormat.encryptedVersion, _):
            throw .unsupported("a segment header of \(bytes.count) bytes")
        default: throw .unsupported("format version \(version)")
        }
        guard flags & ~(beginsLog | snapshot) == 0 else {
            throw .unsupported("segment flags \(String(flags, radix: 16))")
        }
        let firstSequence: UInt64 = bytes.load(Layout.firstSequence)
        guard firstSequence > 0 else { throw .invalid(.outOfRange(field: Layout.firstSequence.name)) }
        return SegmentHeader(
            storeIdentifier: StoreIdentifier(bytes.bytes(Layout.storeIdentifier)), firstSequence: firstSequence,
            storedChain: bytes.load(Layout.chain), isFirst: flags & beginsLog != 0,
            isSnapshot: flags & snapshot != 0, encryption: encryption)
    }
}
