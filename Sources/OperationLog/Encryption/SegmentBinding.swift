/// The values that bind blocks to their segment: the header checksum that block checksums continue, and the cipher.
struct SegmentBinding: Sendable {
    /// The checksum of the segment header.
    let checksum: UInt32
    /// The cipher, or nil if the segment is not encrypted.
    let cipher: SegmentCipher?

    /// The number of bytes by which the stored payload of a block of records exceeds its compressed bytes.
    var overhead: Int { cipher == nil ? 0 : SegmentCipher.overhead }
}

extension SegmentHeader {
    /// Creates the header of a new segment, which is encrypted if there is a key.
    ///
    /// - Parameter chain: The chain value before the first record.
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

    /// The part of the salt that is computed from the rest of it.
    private static let markRange = 20..<28

    private static func mark(_ salt: [UInt8], _ key: LogKey) -> ArraySlice<UInt8> {
        key.authentication(of: Array("store description is authenticated".utf8) + salt[..<markRange.lowerBound])[
            ..<markRange.count]
    }

    /// Returns whether the segment was made by a version that authenticates the description of an encrypted store.
    ///
    /// The salt contains this mark. Only an owner of the key can verify it.
    func isMarked(with keys: [LogKey]) -> Bool {
        guard let salt = encryption?.salt, salt.count == Self.markRange.upperBound,
            let key = keys.first(where: { isEncrypted(with: $0) })
        else { return false }
        return salt[Self.markRange] == Self.mark(salt, key)
    }

    /// Returns whether the segment is not encrypted although it contains records that must be encrypted.
    ///
    /// The caller has checked that the segment is not encrypted.
    private func lacksEncryption(_ keys: [LogKey]) -> Bool {
        keys.contains { key in
            guard let first = key.encryptedFrom else { return false }
            // A snapshot does not include the record with its number.
            return isSnapshot ? firstSequence > first : firstSequence >= first
        }
    }

    /// Returns whether the key is the one that encrypts the segment. Nil matches a segment that is not encrypted.
    func isEncrypted(with key: LogKey?) -> Bool {
        encryption?.keyIdentifier == key?.identifier(in: storeIdentifier)
    }

    /// Returns the binding and the chain value before the first record.
    ///
    /// - Throws: An error if the segment is encrypted and none of the keys matches, or if it lacks a required
    ///   encryption.
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
