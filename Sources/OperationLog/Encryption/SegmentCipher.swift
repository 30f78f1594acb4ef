import Crypto

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The keys of one segment, made of the log's key and the segment's salt.
struct SegmentKeys: Sendable {
    let block: SymmetricKey
    private let mask: SymmetricKey

    init(_ key: LogKey, salt: [UInt8]) {
        let derived = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key.secret, salt: salt, info: Array("tidelog segment keys".utf8), outputByteCount: 64)
        (block, mask) = derived.withUnsafeBytes { bytes in
            (SymmetricKey(data: bytes[..<32]), SymmetricKey(data: bytes[32...]))
        }
    }

    /// XOR this with the chain value of the segment's header.
    func headerMask(firstSequence: UInt64) -> UInt32 {
        masks(withUnsafeBytes(of: firstSequence.littleEndian) { Array($0) }).0
    }

    /// XOR these with a block's two chain values. They are not used for two contents: the checksum is that of an encrypted
    /// payload, which differs each time that it is made.
    func masks(of block: BlockHeader) -> (before: UInt32, after: UInt32) {
        var message = withUnsafeBytes(of: block.firstSequence.littleEndian) { Array($0) }
        withUnsafeBytes(of: block.payloadChecksum.littleEndian) { message.append(contentsOf: $0) }
        return masks(message)
    }

    private func masks(_ message: [UInt8]) -> (before: UInt32, after: UInt32) {
        HMAC<SHA256>.authenticationCode(for: message, using: mask).withUnsafeBytes { code in
            (
                UInt32(littleEndian: code.loadUnaligned(fromByteOffset: 0, as: UInt32.self)),
                UInt32(littleEndian: code.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
            )
        }
    }
}

/// Encrypts and decrypts the blocks of one segment.
final class SegmentCipher: Sendable {
    /// AES-256-GCM, in the segment header's field *cipher*.
    static let aes256GCM: UInt16 = 1
    static let nonceSize = 12
    static let tagSize = 16
    /// How much longer a payload is for being encrypted.
    static let overhead = nonceSize + tagSize

    let keys: SegmentKeys
    /// As it is in the file.
    private let segmentHeader: [UInt8]

    init(_ keys: SegmentKeys, segmentHeader: [UInt8]) {
        self.keys = keys
        self.segmentHeader = segmentHeader
    }

    /// Replaces the bytes from `start` on by their encrypted form. The block's header has all of its values but the
    /// payload's checksum.
    func seal(_ bytes: inout [UInt8], from start: Int, _ block: BlockHeader) {
        do {
            let associated = associated(block)
            let box = try bytes[start...].withUnsafeBytes { content in
                try AES.GCM.seal(content, using: keys.block, nonce: AES.GCM.Nonce(), authenticating: associated)
            }
            bytes.removeSubrange(start...)
            box.nonce.withUnsafeBytes { bytes.append(contentsOf: $0) }
            box.ciphertext.withUnsafeBytes { bytes.append(contentsOf: $0) }
            box.tag.withUnsafeBytes { bytes.append(contentsOf: $0) }
        } catch {
            preconditionFailure("AES-GCM takes any content under a key of 256 bits: \(error)")
        }
    }

    /// Nil where payload or header are not what was encrypted, with this key, for this place.
    func open(_ payload: ArraySlice<UInt8>, _ block: BlockHeader) -> [UInt8]? {
        guard payload.count >= Self.overhead else { return nil }
        // The box, which is another copy of the payload, is gone before the content is copied.
        return decrypted(payload, block)?.withUnsafeBytes { Array($0) }
    }

    private func decrypted(_ payload: ArraySlice<UInt8>, _ block: BlockHeader) -> Data? {
        let associated = associated(block)
        return payload.withUnsafeBytes { bytes in
            let end = bytes.count - Self.tagSize
            guard let nonce = try? AES.GCM.Nonce(data: bytes[..<Self.nonceSize]),
                let box = try? AES.GCM.SealedBox(
                    nonce: nonce, ciphertext: bytes[Self.nonceSize..<end], tag: bytes[end...])
            else { return nil }
            return try? AES.GCM.open(box, using: keys.block, authenticating: associated)
        }
    }

    /// What a payload is bound to: its segment, and its block's header up to the payload's checksum, which is made of the
    /// encrypted payload. The chain values in it are those in memory.
    private func associated(_ block: BlockHeader) -> [UInt8] {
        var bytes = segmentHeader
        bytes.append(contentsOf: repeatElement(0, count: BlockHeader.Layout.byteCount))
        block.store(into: &bytes, at: segmentHeader.count)
        bytes.removeLast(BlockHeader.Layout.byteCount - BlockHeader.Layout.payloadChecksum.offset)
        return bytes
    }
}
