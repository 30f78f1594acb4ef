/// The header of an encrypted file of views, before its pages.
///
/// | offset | size | |
/// |---|---|---|
/// | 0 | 8 | `TLVIEWS` and the format, 1 |
/// | 8 | 4 | size of a page, little-endian |
/// | 12 | 4 | zero |
/// | 16 | 16 | identifier of the key |
/// | 32 | 32 | salt, from which the key of the file is derived |
/// | 64 | 44 | sealed mark: the extent of the write-ahead log |
/// | 108 | | zero |
struct SealedHeader {
    /// As long as a page, so that the pages after it are aligned with the system's.
    static let size = PageChecks.pageSize
    static let markOffset = 64
    static let markSize = WALMark.size + PageSeal.overhead
    private static let magic = Array("TLVIEWS".utf8) + [1]
    private static let keyRange = 16..<32
    private static let saltRange = 32..<64

    var keyIdentifier: [UInt8]
    var salt: [UInt8]
    var sealedMark: [UInt8]

    init(keyIdentifier: [UInt8], salt: [UInt8], sealedMark: [UInt8]) {
        self.keyIdentifier = keyIdentifier
        self.salt = salt
        self.sealedMark = sealedMark
    }

    static func randomSalt() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return saltRange.map { _ in .random(in: 0 ... .max, using: &generator) }
    }

    /// Nil if the bytes are no such header.
    init?(_ bytes: [UInt8]) {
        let mark = Self.markOffset..<Self.markOffset + Self.markSize
        guard bytes.count == Self.size else { return nil }
        keyIdentifier = Array(bytes[Self.keyRange])
        salt = Array(bytes[Self.saltRange])
        sealedMark = Array(bytes[mark])
        guard encoded() == bytes else { return nil }
    }

    func encoded() -> [UInt8] {
        var bytes = Self.magic
        bytes += withUnsafeBytes(of: UInt32(PageChecks.pageSize).littleEndian) { Array($0) }
        bytes += [0, 0, 0, 0] + keyIdentifier + salt + sealedMark
        return bytes + [UInt8](repeating: 0, count: Self.size - bytes.count)
    }
}

/// The part of the write-ahead log that the pages of the database require.
///
/// SQLite treats a log that ends early as incomplete, as after a crash, and assumes that the database is older than the
/// log. Without the mark, an attacker could truncate or remove the log when the database already contains its later
/// pages, so that pages of different times would be combined.
struct WALMark: Equatable {
    static let size = 16
    /// The round of the log: SQLite's salts from its header. Zero if there is no log.
    var round: UInt64 = 0
    /// The number of frames that the log must contain at least.
    var frames: UInt64 = 0

    static let none = WALMark()

    var bytes: [UInt8] {
        withUnsafeBytes(of: (round.littleEndian, frames.littleEndian)) { Array($0) }
    }

    init(round: UInt64 = 0, frames: UInt64 = 0) {
        self.round = round
        self.frames = frames
    }

    init(_ bytes: UnsafeRawBufferPointer) {
        round = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
        frames = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
}
