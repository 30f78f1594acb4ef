/// The first bytes of a segment. It is complete and durable before the file gets its name, so it is never torn.
struct SegmentHeader: Equatable {
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

        static let all = [
            magic, version, size, flags, storeIdentifier, firstSequence, chain, keyIdentifier, checksum,
        ]
    }

    /// Set on the segment with which the log begins, and on no other.
    static let beginsLog: UInt32 = 1
    /// Set on snapshots, and on no segment of records.
    static let snapshot: UInt32 = 2

    let storeIdentifier: StoreIdentifier
    let firstSequence: UInt64
    /// The chain value after the last record of the segment before this one.
    let chain: UInt32
    let isFirst: Bool
    /// The records are the state in front of the first sequence number, and not what was appended.
    var isSnapshot = false

    private var flags: UInt32 { (isFirst ? Self.beginsLog : 0) | (isSnapshot ? Self.snapshot : 0) }

    func encoded() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Layout.byteCount)
        bytes.store(LogFormat.segmentMagic, Layout.magic, in: 0)
        bytes.store(LogFormat.version, Layout.version, in: 0)
        bytes.store(UInt16(Layout.byteCount), Layout.size, in: 0)
        bytes.store(flags, Layout.flags, in: 0)
        bytes.store(storeIdentifier.bytes, Layout.storeIdentifier, in: 0)
        bytes.store(firstSequence, Layout.firstSequence, in: 0)
        bytes.store(chain, Layout.chain, in: 0)
        bytes.store(crc32c(bytes[..<Layout.checksum.offset]), Layout.checksum, in: 0)
        return bytes
    }

    /// What each block's header checksum continues.
    var checksum: UInt32 { encoded()[...].load(Layout.checksum) }

    enum DecodingError: Error {
        case invalid(LogFault)
        case unsupported(String)
    }

    /// The header and its checksum.
    static func decode(_ bytes: [UInt8]) throws(DecodingError) -> (header: SegmentHeader, checksum: UInt32) {
        guard bytes.count >= Layout.byteCount else { throw .invalid(.endsEarly) }
        let bytes = bytes[..<Layout.byteCount]
        guard bytes.bytes(Layout.magic).elementsEqual(LogFormat.segmentMagic) else { throw .invalid(.wrongMagic) }
        let stored: UInt32 = bytes.load(Layout.checksum)
        guard stored == crc32c(bytes[..<Layout.checksum.offset]) else {
            throw .invalid(.headerChecksum)
        }
        let version: UInt16 = bytes.load(Layout.version)
        let size: UInt16 = bytes.load(Layout.size)
        let flags: UInt32 = bytes.load(Layout.flags)
        guard version == LogFormat.version else { throw .unsupported("format version \(version)") }
        guard size == UInt16(Layout.byteCount) else { throw .unsupported("a segment header of \(size) bytes") }
        guard flags & ~(beginsLog | snapshot) == 0 else {
            throw .unsupported("segment flags \(String(flags, radix: 16))")
        }
        guard bytes.bytes(Layout.keyIdentifier).allSatisfy({ $0 == 0 }) else { throw .unsupported("encryption") }
        let firstSequence: UInt64 = bytes.load(Layout.firstSequence)
        guard firstSequence > 0 else { throw .invalid(.outOfRange(field: Layout.firstSequence.name)) }
        let header = SegmentHeader(
            storeIdentifier: StoreIdentifier(bytes.bytes(Layout.storeIdentifier)),
            firstSequence: firstSequence, chain: bytes.load(Layout.chain), isFirst: flags & beginsLog != 0,
            isSnapshot: flags & snapshot != 0)
        return (header, stored)
    }
}
