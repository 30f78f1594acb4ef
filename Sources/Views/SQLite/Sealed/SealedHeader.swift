/// The first bytes of an encrypted file of views, in front of its pages.
///
/// | offset | size | |
/// |---|---|---|
/// | 0 | 8 | `TLVIEWS` and the format, 1 |
/// | 8 | 4 | size of a page, little-endian |
/// | 12 | 4 | zero |
/// | 16 | 16 | identifier of the key |
/// | 32 | 32 | salt: the file's own key is made of it |
/// | 64 | 44 | the mark, sealed: how far the write-ahead log has been |
/// | 108 | | zero |
struct SealedHeader {
    /// As long as a page, so that those behind lie as the system's do.
    static let size = PageChecks.pageSize
    static let markOffset = 64
    static let markSize = LogMark.size + PageSeal.overhead
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

    /// Nil where the bytes are no such header.
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

/// How much of the write-ahead log the pages of the database need.
///
/// SQLite takes a log that ends early for one of which the rest was not written, as after a crash, and what is in the database
/// for older than the log. Without the mark somebody could cut the log, or take it away, when its later pages are in the
/// database already, and pages of two times would be taken together.
struct LogMark: Equatable {
    static let size = 16
    /// Which round of the log it is: SQLite's salts as they stand in its header. Zero where there is no log.
    var round: UInt64 = 0
    /// Up to this frame, at least, the log has to hold what was written.
    var frames: UInt64 = 0

    static let none = LogMark()

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
