import Crypto

/// What a file of views is encrypted with. It is made of the store's key and its identifier, and of use for nothing else.
public struct ViewsKey: Sendable {
    static let identifierSize = 16

    /// Tells one key from another, and says nothing of the secret: it is in the file as it is.
    let identifier: [UInt8]
    private let secret: SymmetricKey

    /// - Parameters:
    ///   - identifier: 16 bytes.
    ///   - secret: 32 bytes that nobody can guess.
    package init(identifier: [UInt8], secret: [UInt8]) {
        precondition(identifier.count == Self.identifierSize && secret.count == 32, "no key of views")
        self.identifier = identifier
        self.secret = SymmetricKey(data: secret)
    }

    /// The key of the one file that has this salt.
    func fileKey(salt: [UInt8]) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, salt: salt, info: Array("tidelog pages".utf8), outputByteCount: 32)
    }
}

/// Nothing that prints a value prints the secret.
extension ViewsKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "ViewsKey" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
