import Crypto

/// A secret that encrypts a log.
///
/// Generate it at random and store it in the system's key storage. It cannot be recovered from the log.
public struct LogKey: Sendable, Hashable {
    /// The length of the secret in bytes.
    public static let byteCount = 32

    let secret: SymmetricKey
    /// The first record that must be encrypted, or nil if unencrypted segments are accepted. See
    /// ``requiringEncryption(from:)``.
    private(set) var encryptedFrom: UInt64?

    /// Creates a key from ``byteCount`` bytes, or returns nil for any other length.
    ///
    /// The bytes are used without derivation, so a password is not a key.
    public init?(_ secret: [UInt8]) {
        guard secret.count == Self.byteCount else { return nil }
        self.secret = SymmetricKey(data: secret)
    }

    /// Returns a new random key of 256 bits.
    public static func random() -> LogKey {
        LogKey(secret: SymmetricKey(size: .bits256))
    }

    private init(secret: SymmetricKey) { self.secret = secret }

    /// The secret, for storing it elsewhere.
    public var bytes: [UInt8] { secret.withUnsafeBytes { Array($0) } }

    /// Returns a key for a log that is encrypted from the given record on.
    ///
    /// Unencrypted segments and snapshots with that record or later ones are refused with `LogError.notEncrypted`,
    /// because the store did not write them.
    package func requiringEncryption(from sequence: UInt64) -> LogKey {
        var key = self
        key.encryptedFrom = sequence
        return key
    }

    /// Returns an authentication code (HMAC) that only an owner of the key can compute.
    package func authentication(of bytes: [UInt8]) -> [UInt8] {
        var code = HMAC<SHA256>(key: secret)
        code.update(data: Array("tidelog authentication".utf8))
        code.update(data: bytes)
        return Array(code.finalize())
    }

    /// Returns whether the code was computed with this key for these bytes, in constant time.
    package func isAuthentication(_ code: [UInt8], of bytes: [UInt8]) -> Bool {
        let expected = authentication(of: bytes)
        guard code.count == expected.count else { return false }
        return zip(code, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    public static func == (one: LogKey, other: LogKey) -> Bool { one.secret == other.secret }

    public func hash(into hasher: inout Hasher) {
        secret.withUnsafeBytes { hasher.combine(bytes: $0) }
    }

    /// Derives a 32-byte key for data outside of the log. It differs for each store and each purpose.
    package func derived(for purpose: String, in store: StoreIdentifier) -> [UInt8] {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, salt: store.bytes, info: Array("tidelog beside the log: \(purpose)".utf8),
            outputByteCount: Self.byteCount
        ).withUnsafeBytes { Array($0) }
    }

    /// Returns the key identifier that segment headers contain.
    ///
    /// It identifies the key without revealing the secret. It differs for each store, so that it does not show which
    /// stores share a key.
    package func identifier(in store: StoreIdentifier) -> [UInt8] {
        var code = HMAC<SHA256>(key: secret)
        code.update(data: Array("tidelog key identifier".utf8))
        code.update(data: store.bytes)
        return Array(code.finalize().prefix(SegmentHeader.Layout.keyIdentifier.size))
    }
}

/// Descriptions and mirrors, including those in crash reports, do not reveal the secret.
extension LogKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "LogKey" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
