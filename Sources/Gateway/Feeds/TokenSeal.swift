internal import Crypto
internal import GatewayCore

/// Seals the tokens of feeds: a client can neither read nor change them, and a token of one service is not accepted for
/// another one.
struct TokenSeal: Sendable {
    private let key: SymmetricKey

    init(secret: [UInt8]) {
        key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret), info: Array("tidelog-gateway feed tokens".utf8),
            outputByteCount: 32)
    }

    func sealed(_ token: FeedToken, endpoint: String) -> String? {
        let box = try? AES.GCM.seal(token.encoded, using: key, authenticating: Array(endpoint.utf8))
        return box?.combined.map { Self.text(Array($0)) }
    }

    /// Returns the token, or `nil` for every text that this gateway has not sealed.
    func opened(_ text: String, endpoint: String) -> FeedToken? {
        guard let bytes = Self.bytes(text), let box = try? AES.GCM.SealedBox(combined: bytes),
            let plain = try? AES.GCM.open(box, using: key, authenticating: Array(endpoint.utf8))
        else { return nil }
        return FeedToken(encoded: Array(plain))
    }

    // MARK: base64url (RFC 4648, section 5), without padding

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static func text(_ bytes: [UInt8]) -> String {
        var output: [UInt8] = []
        var buffer = 0
        var bits = 0
        for byte in bytes {
            buffer = buffer << 8 | Int(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                output.append(alphabet[buffer >> bits & 63])
            }
            buffer &= 1 << bits - 1
        }
        if bits > 0 { output.append(alphabet[buffer << (6 - bits) & 63]) }
        return String(decoding: output, as: UTF8.self)
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        guard text.utf8.count <= 8_192 else { return nil }
        var output: [UInt8] = []
        var buffer = 0
        var bits = 0
        for byte in text.utf8 {
            guard let value = alphabet.firstIndex(of: byte) else { return nil }
            buffer = buffer << 6 | value
            bits += 6
            if bits >= 8 {
                bits -= 8
                output.append(UInt8(truncatingIfNeeded: buffer >> bits))
            }
            buffer &= 1 << bits - 1
        }
        return output
    }
}
