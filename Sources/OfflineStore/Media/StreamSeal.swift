import Crypto
import Operations

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The format of an encrypted media stream: a header, and chunks that are sealed individually with AES-256-GCM, so that
/// any part can be read on its own.
///
/// | offset | size | |
/// |---|---|---|
/// | 0 | 8 | `TLMEDIA` and the format, 1 |
/// | 8 | 4 | content in a chunk, little-endian: 65,536 |
/// | 12 | 4 | zero |
/// | 16 | 16 | identifier of the key |
/// | 32 | 32 | salt from which the file's own key is derived |
/// | 64 | 48 | the SHA-256 of the content, sealed |
/// | 112 | | the chunks, each with its tag of 16 bytes; the last one may be shorter, or empty like the content |
///
/// The nonce of a chunk is its number. The key binds a chunk to the file, the number binds it to its position, and the
/// last-chunk flag binds it to the end: no chunk can be moved, omitted or added. The sealed digest binds the file to
/// the requested content.
package struct StreamSeal: Sendable {
    package static let chunkSize = 1 << 16
    static let tagSize = 16
    static let storedChunkSize = chunkSize + tagSize
    static let headerSize = 112
    private static let boundSize = 64
    private static let magic = Array("TLMEDIA".utf8) + [1]

    private let key: SymmetricKey
    /// The header without the digest.
    private let bound: [UInt8]

    /// Creates the seal of a new file.
    init(_ key: StreamKey) {
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<32).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        self.init(key, salt: salt)
    }

    private init(_ key: StreamKey, salt: [UInt8]) {
        self.key = key.fileKey(salt: salt)
        let size = withUnsafeBytes(of: UInt32(Self.chunkSize).littleEndian) { Array($0) }
        bound = Self.magic + size + [0, 0, 0, 0] + key.identifier + salt
    }

    /// Creates the seal of an existing file with this header. Returns nil if it does not belong to this content and
    /// key.
    init?(_ key: StreamKey, header: [UInt8], digest: StreamDigest) {
        guard header.count == Self.headerSize else { return nil }
        self.init(key, salt: Array(header[32..<Self.boundSize]))
        guard header.starts(with: bound),
            open(header[Self.boundSize...], number: .max, isLast: false) == digest.bytes
        else { return nil }
    }

    func header(digest: StreamDigest) -> [UInt8]? {
        seal(digest.bytes, number: .max, isLast: false).map { bound + $0 }
    }

    // MARK: Chunks

    func seal(_ chunk: [UInt8], number: UInt64, isLast: Bool) -> [UInt8]? {
        guard let nonce = try? AES.GCM.Nonce(data: nonce(number)),
            let box = try? AES.GCM.seal(
                chunk, using: key, nonce: nonce, authenticating: associated(number, isLast))
        else { return nil }
        return Array(box.ciphertext) + Array(box.tag)
    }

    /// Opens a chunk. Returns nil if the bytes were not sealed with this key for this position.
    func open(_ sealed: ArraySlice<UInt8>, number: UInt64, isLast: Bool) -> [UInt8]? {
        guard sealed.count >= Self.tagSize, let nonce = try? AES.GCM.Nonce(data: nonce(number)),
            let box = try? AES.GCM.SealedBox(
                nonce: nonce, ciphertext: sealed.dropLast(Self.tagSize), tag: sealed.suffix(Self.tagSize)),
            let chunk = try? AES.GCM.open(box, using: key, authenticating: associated(number, isLast))
        else { return nil }
        return Array(chunk)
    }

    private func nonce(_ number: UInt64) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) } + [0, 0, 0, 0]
    }

    private func associated(_ number: UInt64, _ isLast: Bool) -> [UInt8] {
        bound + withUnsafeBytes(of: number.littleEndian) { Array($0) } + [isLast ? 1 : 0]
    }

    // MARK: Sizes

    /// Returns the number of the last chunk of a content of this size.
    static func lastChunk(of byteCount: UInt64) -> UInt64 {
        byteCount == 0 ? 0 : (byteCount - 1) / UInt64(chunkSize)
    }

    /// Returns the size of the file, or nil if it would overflow.
    static func storedSize(of byteCount: UInt64) -> UInt64? {
        let (size, overflows) = byteCount.addingReportingOverflow(
            UInt64(headerSize) + (lastChunk(of: byteCount) + 1) * UInt64(tagSize))
        return overflows ? nil : size
    }
}
