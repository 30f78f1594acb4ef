internal import Crypto
internal import GatewayCore
internal import ODataQuery

/// Seals the tokens of feeds: a client can neither read nor change them, and a token of one service is not accepted for
/// a different service.
struct TokenSeal: Sendable {
    private static let maximumLength = 8_192

    private let key: SymmetricKey
    private let randomBytes: @Sendable (Int) -> [UInt8]

    /// - Parameter randomBytes: The source of the nonces, which must never repeat for one secret.
    init(secret: [UInt8], randomBytes: @escaping @Sendable (Int) -> [UInt8]) {
        self.randomBytes = randomBytes
        key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret), info: Array("tidelog-gateway feed tokens".utf8),
            outputByteCount: 32)
    }

    func sealed(_ token: FeedToken, endpoint: String) -> String? {
        let box = try? AES.GCM.seal(
            token.encoded, using: key, nonce: AES.GCM.Nonce(data: randomBytes(12)), authenticating: Array(endpoint.utf8)
        )
        return box?.combined.map { String(Base64.encode(Array($0), .urlSafe).prefix { $0 != "=" }) }
    }

    /// Returns the token, or `nil` for every text that this gateway has not sealed.
    func opened(_ text: String, endpoint: String) -> FeedToken? {
        guard text.utf8.count <= Self.maximumLength, let bytes = Base64.decode(Array(text.utf8)),
            let box = try? AES.GCM.SealedBox(combined: bytes),
            let plain = try? AES.GCM.open(box, using: key, authenticating: Array(endpoint.utf8))
        else { return nil }
        return FeedToken(encoded: Array(plain))
    }
}
