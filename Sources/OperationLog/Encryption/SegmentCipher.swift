import Crypto

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The keys of one segment, derived from the log's key and the segment's salt.
struct SegmentKeys: Sendable {
    let block: SymmetricKey
    /// An HMAC that is already keyed with the mask key. Keying it takes longer than the rest of computing a mask.
    private let code: HMAC<SHA256>

    init(_ key: LogKey, salt: [UInt8]) {
        let derived = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key.secret, salt: salt, info: Array("tidelog segment keys".utf8), outputByteCount: 64)
        (block, code) = derived.withUnsafeBytes { bytes in
            (SymmetricKey(data: bytes[..<32]), HMAC(key: SymmetricKey(data: bytes[32...])))
        }
    }

    /// Returns the mask to XOR with the chain value in the segment header.
    func headerMask(firstSequence: UInt64) -> UInt32 {
        withUnsafeBytes(of: firstSequence.littleEndian) { masks($0) }.before
    }

    /// Returns the masks to XOR with a block's two chain values.
    ///
    /// No mask is used for two contents: the checksum covers the encrypted payload, which differs with each encryption.
    func masks(of block: BlockHeader) -> (before: UInt32, after: UInt32) {
        let message = (
            block.firstSequence.littleEndian, block.payloadChecksum.littleEndian
        )
        // The tuple's two members are adjacent; the padding after them is excluded.
        return withUnsafeBytes(of: message) { masks(UnsafeRawBufferPointer(rebasing: $0[..<12])) }
    }

    private func masks(_ message: UnsafeRawBufferPointer) -> (before: UInt32, after: UInt32) {
        var code = code
        code.update(data: message)
        return code.finalize().withUnsafeBytes { bytes in
            (
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)),
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
            )
        }
    }
}

/// Encrypts and decrypts the blocks of one segment.
final class SegmentCipher: Sendable {
    /// The value of the segment header's field *cipher* for AES-256-GCM.
    static let aes256GCM: UInt16 = 1
    static let nonceSize = 12
    static let tagSize = 16
    /// The number of bytes that encryption adds to a payload.
    static let overhead = nonceSize + tagSize

    let keys: SegmentKeys
    /// The segment header as stored in the file.
    private let segmentHeader: [UInt8]

    init(_ keys: SegmentKeys, segmentHeader: [UInt8]) {
        self.keys = keys
        self.segmentHeader = segmentHeader
    }

    /// Replaces the bytes from `start` on with their encrypted form.
    ///
    /// All fields of the block header except the payload checksum must be final.
    func seal(_ bytes: inout [UInt8], from start: Int, _ block: BlockHeader) {
        do {
            let associated = associated(block)
            let box = try bytes.withUnsafeBytes { content in
                try AES.GCM.seal(content[start...], using: keys.block, authenticating: associated)
            }
            bytes.removeSubrange(start...)
            // Nonce, ciphertext and tag. Nil only for nonces of other sizes.
            box.combined?.withUnsafeBytes { bytes.append(contentsOf: $0) }
        } catch {
            preconditionFailure("AES-GCM with a key of 256 bits accepts any content: \(error)")
        }
    }

    /// Decrypts a payload. Returns nil if the payload or the header is not authentic for this key and position.
    func open(_ payload: ArraySlice<UInt8>, _ block: BlockHeader) -> [UInt8]? {
        // Releases the box, which is another copy of the payload, before the content is copied.
        decrypted(payload, block)?.withUnsafeBytes { Array($0) }
    }

    private func decrypted(_ payload: ArraySlice<UInt8>, _ block: BlockHeader) -> Data? {
        guard let box = try? AES.GCM.SealedBox(combined: payload) else { return nil }
        return try? AES.GCM.open(box, using: keys.block, authenticating: associated(block))
    }

    /// Returns the data that a payload is bound to: the segment header, then the block header up to the payload
    /// checksum.
    ///
    /// The payload checksum is excluded because it covers the encrypted payload. The chain values are the unmasked
    /// ones.
    private func associated(_ block: BlockHeader) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(segmentHeader.count + BlockHeader.Layout.byteCount)
        bytes.append(contentsOf: segmentHeader)
        bytes.append(contentsOf: repeatElement(0, count: BlockHeader.Layout.byteCount))
        block.store(into: &bytes, at: segmentHeader.count)
        bytes.removeLast(BlockHeader.Layout.byteCount - BlockHeader.Layout.payloadChecksum.offset)
        return bytes
    }
}
