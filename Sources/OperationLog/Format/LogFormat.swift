/// The numbers of the format that are not a field's place. `Docs/LogFormat.md` says what each is for, and a test
/// holds the two together.
public enum LogFormat {
    /// The version of segments that are not encrypted.
    public static let version: UInt16 = 1

    /// The version of segments that are: a longer header and other payloads, all else the same.
    public static let encryptedVersion: UInt16 = 2

    /// The most bytes that one record's payload may have.
    public static let maximumPayload = maximumBlockRaw - 16

    /// The most bytes that a block may decompress to.
    static let maximumBlockRaw = 16_777_216

    /// The most bytes that a block's payload may have in the file: incompressible content grows a little.
    static let maximumBlockStored = 17_825_792

    /// Where a commit of several records begins another block.
    static let targetBlockRaw = 1_048_576

    /// Base-2 logarithm of the zstd window: what a reader must be ready to keep of a run.
    static let windowLog = 20

    static let segmentMagic: [UInt8] = Array("TIDELOG\n".utf8)
    static let blockMagic: [UInt8] = Array("TLBK".utf8)
    static let trailerMagic: [UInt8] = Array("TLFT".utf8)
}

/// Where a field lies in its structure, in bytes. All numbers are unsigned and little-endian.
struct FieldLayout: Sendable, Equatable {
    let name: String
    let offset: Int
    let size: Int

    init(_ name: String, _ offset: Int, _ size: Int) {
        self.name = name
        self.offset = offset
        self.size = size
    }
}

extension [UInt8] {
    /// Writes a number into a field of the structure that begins at `start`.
    mutating func store<Number: UnsignedInteger & FixedWidthInteger>(
        _ number: Number, _ field: FieldLayout, in start: Int
    ) {
        assert(field.size * 8 == Number.bitWidth)
        withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: number.littleEndian, toByteOffset: start + field.offset, as: Number.self)
        }
    }

    mutating func store(_ bytes: [UInt8], _ field: FieldLayout, in start: Int) {
        assert(field.size == bytes.count)
        for (index, byte) in bytes.enumerated() { self[start + field.offset + index] = byte }
    }
}

extension ArraySlice<UInt8> {
    /// The number in a field of the structure that the slice holds from its start; the slice must be long enough.
    func load<Number: UnsignedInteger & FixedWidthInteger>(_ field: FieldLayout) -> Number {
        assert(field.size * 8 == Number.bitWidth)
        return withUnsafeBytes { bytes in
            Number(littleEndian: bytes.loadUnaligned(fromByteOffset: field.offset, as: Number.self))
        }
    }

    func bytes(_ field: FieldLayout) -> ArraySlice<UInt8> {
        self[startIndex + field.offset..<startIndex + field.offset + field.size]
    }
}
