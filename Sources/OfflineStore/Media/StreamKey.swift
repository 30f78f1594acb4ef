import Crypto
import OperationLog
import Operations

/// The key of the media streams of an encrypted store.
struct StreamKey: Sendable {
    static let identifierSize = 16

    /// A value that identifies the key without revealing the secret.
    let identifier: [UInt8]
    private let secret: SymmetricKey

    init(_ key: LogKey, in store: StoreIdentifier) {
        identifier = key.identifier(in: store)
        secret = SymmetricKey(data: key.derived(for: "streams", in: store))
    }

    /// Returns the name of the content's file. The digest itself would reveal to an attacker with the same content that
    /// the store contains it.
    func name(of digest: StreamDigest) -> String {
        var code = HMAC<SHA256>(key: secret)
        code.update(data: Array("name".utf8) + digest.bytes)
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: code.finalize().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Returns the key of the single file that has this salt.
    func fileKey(salt: [UInt8]) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, salt: salt, info: Array("tidelog stream".utf8), outputByteCount: 32)
    }
}
