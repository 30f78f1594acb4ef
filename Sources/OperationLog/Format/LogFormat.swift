/// The constants of the format other than field positions.
///
/// `Docs/LogFormat.md` documents each of them, and a test compares the two.
package enum LogFormat {
    /// The version of segments that are not encrypted.
    package static let version: UInt16 = 1

    /// The version of encrypted segments, which differ only in a longer header and in their payloads.
    package static let encryptedVersion: UInt16 = 2

    /// The maximum length of a record's payload in bytes.
    package static let maximumPayload = maximumBlockRaw - 16

    /// The maximum decompressed length of a block in bytes.
    static let maximumBlockRaw = 16_777_216

    /// The maximum length of a block's payload in the file in bytes. Incompressible content grows a little.
    static let maximumBlockStored = 17_825_792

    /// The raw length from which a commit of several records continues in another block.
    static let targetBlockRaw = 1_048_576

    /// The base-2 logarithm of the zstd window, which bounds the memory that a reader keeps for a run.
    static let windowLog = 20

    static let segmentMagic: [UInt8] = Array("TIDELOG\n".utf8)
    static let blockMagic: [UInt8] = Array("TLBK".utf8)
    static let trailerMagic: [UInt8] = Array("TLFT".utf8)
}

/// The position of a field in its structure, in bytes. All numbers are unsigned and little-endian.
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
    /// Returns the number in a field of the structure at the start of the slice. The slice must be long enough.
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
