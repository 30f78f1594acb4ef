import Crypto

/// A secret that encrypts a log. Draw it at random and keep it where the system keeps secrets: the log holds nothing from
/// which it could be made again.
public struct LogKey: Sendable, Hashable {
    /// Of a secret, in bytes.
    public static let byteCount = 32

    let secret: SymmetricKey
    /// See ``requiringEncryption(from:)``; nil for a key that tolerates any plain segment.
    private(set) var encryptedFrom: UInt64?

    /// Nil unless there are exactly ``byteCount`` bytes. They are used as they are: a password is no key.
    public init?(_ secret: [UInt8]) {
        guard secret.count == Self.byteCount else { return nil }
        self.secret = SymmetricKey(data: secret)
    }

    public static func random() -> LogKey {
        LogKey(secret: SymmetricKey(size: .bits256))
    }

    private init(secret: SymmetricKey) { self.secret = secret }

    /// For keeping it elsewhere.
    public var bytes: [UInt8] { secret.withUnsafeBytes { Array($0) } }

    /// The key of a log that is encrypted from the record with this number on: segments and snapshots with later records that
    /// are not encrypted are refused with `LogError.notEncrypted`. Somebody else made them.
    public func requiringEncryption(from sequence: UInt64) -> LogKey {
        var key = self
        key.encryptedFrom = sequence
        return key
    }

    /// A code that only an owner of the key can make.
    public func authentication(of bytes: [UInt8]) -> [UInt8] {
        var code = HMAC<SHA256>(key: secret)
        code.update(data: Array("tidelog authentication".utf8))
        code.update(data: bytes)
        return Array(code.finalize())
    }

    /// Whether the code was made with this key for these bytes. Takes the same time whatever the code.
    public func isAuthentication(_ code: [UInt8], of bytes: [UInt8]) -> Bool {
        let expected = authentication(of: bytes)
        guard code.count == expected.count else { return false }
        return zip(code, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    public static func == (one: LogKey, other: LogKey) -> Bool { one.secret == other.secret }

    public func hash(into hasher: inout Hasher) {
        secret.withUnsafeBytes { hasher.combine(bytes: $0) }
    }

    /// 32 bytes that only an owner of the key can make: a key for something that lies beside the log, another one in each
    /// store and for each purpose.
    package func derived(for purpose: String, in store: StoreIdentifier) -> [UInt8] {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, salt: store.bytes, info: Array("tidelog beside the log: \(purpose)".utf8),
            outputByteCount: Self.byteCount
        ).withUnsafeBytes { Array($0) }
    }

    /// What a segment's header says of its key: enough to know the key by, and nothing of the secret. Another one in each
    /// store, so that nobody sees which stores share a key.
    package func identifier(in store: StoreIdentifier) -> [UInt8] {
        var code = HMAC<SHA256>(key: secret)
        code.update(data: Array("tidelog key identifier".utf8))
        code.update(data: store.bytes)
        return Array(code.finalize().prefix(SegmentHeader.Layout.keyIdentifier.size))
    }
}

/// Nothing that prints a value, a crash report included, prints the secret.
extension LogKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "LogKey" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
