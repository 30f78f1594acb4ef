import Crypto

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The keys of one segment, made of the log's key and the segment's salt.
struct SegmentKeys: Sendable {
    let block: SymmetricKey
    /// With the mask key in it: making one of the key takes longer than all else about a mask.
    private let code: HMAC<SHA256>

    init(_ key: LogKey, salt: [UInt8]) {
        let derived = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key.secret, salt: salt, info: Array("tidelog segment keys".utf8), outputByteCount: 64)
        (block, code) = derived.withUnsafeBytes { bytes in
            (SymmetricKey(data: bytes[..<32]), HMAC(key: SymmetricKey(data: bytes[32...])))
        }
    }

    /// XOR this with the chain value of the segment's header.
    func headerMask(firstSequence: UInt64) -> UInt32 {
        withUnsafeBytes(of: firstSequence.littleEndian) { masks($0) }.before
    }

    /// XOR these with a block's two chain values. They are not used for two contents: the checksum is that of an encrypted
    /// payload, which differs each time that it is made.
    func masks(of block: BlockHeader) -> (before: UInt32, after: UInt32) {
        let message = (
            block.firstSequence.littleEndian, block.payloadChecksum.littleEndian
        )
        // The tuple's two members lie side by side; what it has behind them is left out.
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
            let box = try bytes.withUnsafeBytes { content in
                try AES.GCM.seal(content[start...], using: keys.block, authenticating: associated)
            }
            bytes.removeSubrange(start...)
            // Nonce, ciphertext and tag; nil for nonces of other sizes only.
            box.combined?.withUnsafeBytes { bytes.append(contentsOf: $0) }
        } catch {
            preconditionFailure("AES-GCM takes any content under a key of 256 bits: \(error)")
        }
    }

    /// Nil where payload or header are not what was encrypted, with this key, for this place.
    func open(_ payload: ArraySlice<UInt8>, _ block: BlockHeader) -> [UInt8]? {
        // The box, which is another copy of the payload, is gone before the content is copied.
        decrypted(payload, block)?.withUnsafeBytes { Array($0) }
    }

    private func decrypted(_ payload: ArraySlice<UInt8>, _ block: BlockHeader) -> Data? {
        guard let box = try? AES.GCM.SealedBox(combined: payload) else { return nil }
        return try? AES.GCM.open(box, using: keys.block, authenticating: associated(block))
    }

    /// What a payload is bound to: its segment, and its block's header up to the payload's checksum, which is made of the
    /// encrypted payload. The chain values in it are those in memory.
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
