import Crypto
import OperationLog
import Operations

/// What the media streams of an encrypted store are encrypted with.
struct StreamKey: Sendable {
    static let identifierSize = 16

    /// Tells one key from another, and says nothing of the secret.
    let identifier: [UInt8]
    private let secret: SymmetricKey

    init(_ key: LogKey, in store: StoreIdentifier) {
        identifier = key.identifier(in: store)
        secret = SymmetricKey(data: key.derived(for: "streams", in: store))
    }

    /// The name of the file that holds the content. The digest itself would tell somebody who has the content elsewhere that
    /// the store has it too.
    func name(of digest: StreamDigest) -> String {
        var code = HMAC<SHA256>(key: secret)
        code.update(data: Array("name".utf8) + digest.bytes)
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: code.finalize().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The key of the one file that has this salt.
    func fileKey(salt: [UInt8]) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, salt: salt, info: Array("tidelog stream".utf8), outputByteCount: 32)
    }
}
