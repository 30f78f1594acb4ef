import Crypto

/// The encryption key of a file of views. It is derived from the store's key and identifier, and used for nothing else.
package struct ViewsKey: Sendable {
    static let identifierSize = 16

    /// Identifies the key without revealing the secret. Stored in plain text in the file.
    let identifier: [UInt8]
    private let secret: SymmetricKey

    /// - Parameters:
    ///   - identifier: 16 bytes.
    ///   - secret: 32 secret bytes.
    package init(identifier: [UInt8], secret: [UInt8]) {
        precondition(identifier.count == Self.identifierSize && secret.count == 32, "no key of views")
        self.identifier = identifier
        self.secret = SymmetricKey(data: secret)
    }

    /// Returns the key of the file with this salt.
    func fileKey(salt: [UInt8]) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, salt: salt, info: Array("tidelog pages".utf8), outputByteCount: 32)
    }
}

/// The description and the mirror do not contain the secret.
extension ViewsKey: CustomStringConvertible, CustomReflectable {
    package var description: String { "ViewsKey" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
