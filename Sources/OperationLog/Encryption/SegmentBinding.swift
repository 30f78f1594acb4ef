/// What ties blocks to their segment: the checksum that theirs continue and, where the segment is encrypted, its keys.
struct SegmentBinding: Sendable {
    /// Of the segment's header.
    let checksum: UInt32
    /// Nil: the segment is not encrypted.
    let cipher: SegmentCipher?

    /// How much longer the payload of a block of records is than its compressed bytes.
    var overhead: Int { cipher == nil ? 0 : SegmentCipher.overhead }
}

extension SegmentHeader {
    /// The header of a new segment; `chain` is the value in front of its first record. Encrypted where there is a key.
    init(
        storeIdentifier: StoreIdentifier, firstSequence: UInt64, chain: UInt32, isFirst: Bool = false,
        isSnapshot: Bool = false, key: LogKey?
    ) {
        guard let key else {
            self.init(
                storeIdentifier: storeIdentifier, firstSequence: firstSequence, storedChain: chain, isFirst: isFirst,
                isSnapshot: isSnapshot, encryption: nil)
            return
        }
        var generator = SystemRandomNumberGenerator()
        var salt = (0..<EncryptedLayout.salt.size).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        salt.replaceSubrange(Self.markRange, with: Self.mark(salt, key))
        let mask = SegmentKeys(key, salt: salt).headerMask(firstSequence: firstSequence)
        self.init(
            storeIdentifier: storeIdentifier, firstSequence: firstSequence, storedChain: chain ^ mask,
            isFirst: isFirst, isSnapshot: isSnapshot,
            encryption: Encryption(keyIdentifier: key.identifier(in: storeIdentifier), salt: salt))
    }

    /// The part of the salt that is made of the rest of it.
    private static let markRange = 20..<28

    private static func mark(_ salt: [UInt8], _ key: LogKey) -> ArraySlice<UInt8> {
        key.authentication(of: Array("store description is authenticated".utf8) + salt[..<markRange.lowerBound])[
            ..<markRange.count]
    }

    /// Whether the segment was made by a version that authenticates the description of an encrypted store. It shows in the
    /// salt, and only to an owner of the key.
    func isMarked(with keys: [LogKey]) -> Bool {
        guard let salt = encryption?.salt, salt.count == Self.markRange.upperBound,
            let key = keys.first(where: { isEncrypted(with: $0) })
        else { return false }
        return salt[Self.markRange] == Self.mark(salt, key)
    }

    /// Whether it holds records from one on behind which everything has to be encrypted, and is not.
    private func lacksEncryption(_ keys: [LogKey]) -> Bool {
        keys.contains { key in
            guard let first = key.encryptedFrom else { return false }
            // A snapshot does not include the record with its number.
            return isSnapshot ? firstSequence > first : firstSequence >= first
        }
    }

    /// Whether the key is the one that encrypts the segment; no key is that of one that is not encrypted.
    func isEncrypted(with key: LogKey?) -> Bool {
        encryption?.keyIdentifier == key?.identifier(in: storeIdentifier)
    }

    /// The binding, and the chain value in front of the first record. Throws where the segment is encrypted and none of the
    /// keys is its own.
    func unlocked(
        with keys: [LogKey], path: String
    ) throws(LogError) -> (binding: SegmentBinding, chain: UInt32) {
        let bytes = encoded()
        let checksum = Self.checksum(of: bytes)
        guard let encryption else {
            if lacksEncryption(keys) { throw .notEncrypted(path: path) }
            return (SegmentBinding(checksum: checksum, cipher: nil), storedChain)
        }
        guard !keys.isEmpty else { throw .keyRequired(path: path) }
        guard let key = keys.first(where: { isEncrypted(with: $0) }) else { throw .wrongKey(path: path) }
        let segmentKeys = SegmentKeys(key, salt: encryption.salt)
        let cipher = SegmentCipher(segmentKeys, segmentHeader: bytes)
        return (
            SegmentBinding(checksum: checksum, cipher: cipher),
            storedChain ^ segmentKeys.headerMask(firstSequence: firstSequence)
        )
    }
}
