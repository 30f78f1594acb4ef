package import OperationLog

/// The authentication of `store.json` in an encrypted store. Without it, an attacker with write access but without the
/// key could change the service capabilities, or the segments that may be unencrypted.
///
/// It is the last member, `authentication`: the HMAC-SHA-256 of all preceding bytes under the store's key, in
/// hexadecimal.
enum DescriptionSeal {
    private static let prefix = Array(#","authentication":""#.utf8)
    private static let suffix = Array(#""}"#.utf8)
    private static let digits = 64

    /// Returns the object with its authentication.
    ///
    /// - Parameter object: A JSON object with at least one member.
    static func sealed(_ object: [UInt8], _ key: LogKey) -> [UInt8] {
        let content = Array(object.dropLast())
        return content + prefix + hexadecimal(key.authentication(of: content)) + suffix
    }

    /// Returns whether the description is authenticated with one of the keys. False for a store that is not encrypted,
    /// whose keys were not passed, or that an earlier version wrote.
    ///
    /// - Throws: `damaged` if a required authentication is missing or wrong, `wrongKey` if the log is encrypted with
    ///   other keys.
    static func check(_ bytes: [UInt8], _ files: StoreFiles, _ keys: [LogKey]) throws(TidelogError) -> Bool {
        guard !keys.isEmpty else { return false }
        let disk = PosixFileSystem()
        if let (content, code) = parts(bytes) {
            if keys.contains(where: { hexadecimal($0.authentication(of: content)) == code }) { return true }
            // If none of the keys belongs to this store, the log reports it.
            guard LogReader.isEncrypted(directory: files.log, with: keys, fileSystem: disk) != false else {
                throw TidelogError(LogError.wrongKey(path: files.log))
            }
        } else if !LogReader.requiresAuthentication(directory: files.log, with: keys, fileSystem: disk) {
            return false
        }
        throw TidelogError(
            .damaged,
            "The description of the encrypted store was changed by another program: its authentication tag does not match.",
            place: files.description,
            recovery: "Restore a copy of the file, or remove it and run 'tidelog init' with the service root.")
    }

    /// Returns whether the description contains an authentication, valid or not.
    static func isSealed(_ bytes: [UInt8]) -> Bool { parts(bytes) != nil }

    static func isSealed(_ bytes: [UInt8], with key: LogKey) -> Bool {
        guard let (content, code) = parts(bytes) else { return false }
        return hexadecimal(key.authentication(of: content)) == code
    }

    private static func parts(_ bytes: [UInt8]) -> (content: [UInt8], code: [UInt8])? {
        var bytes = bytes[...]
        while let last = bytes.last, last == 0x0A || last == 0x0D || last == 0x20 { bytes.removeLast() }
        let length = prefix.count + digits + suffix.count
        guard bytes.count > length, bytes.suffix(suffix.count).elementsEqual(suffix) else { return nil }
        let seal = bytes.suffix(length)
        guard seal.prefix(prefix.count).elementsEqual(prefix) else { return nil }
        return (Array(bytes.dropLast(length)), Array(seal.dropFirst(prefix.count).prefix(digits)))
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
}

extension StoreDescription {
    /// Authenticates the description of a store that is or becomes encrypted, if it is not authenticated yet.
    ///
    /// - Throws: `keyRequired` if the store is encrypted and so far only its description shows it; `damaged` if the
    ///   description is not authentic.
    static func secure(_ files: StoreFiles, _ keys: [LogKey], _ log: OperationLog) throws(TidelogError) {
        guard let bytes = try StoreDirectory.read(files.description) else { return }
        let isSealed = DescriptionSeal.isSealed(bytes)
        if keys.isEmpty {
            guard isSealed else { return }
            log.close()
            throw TidelogError(LogError.keyRequired(path: files.description))
        }
        do throws(TidelogError) {
            guard var description = try read(files, keys: keys) else { return }
            // With the key for writing, because the others may be retired.
            if isSealed, DescriptionSeal.isSealed(bytes, with: keys[0]) { return }
            // All later records are encrypted.
            description.encryptedFrom =
                description.encryptedFrom ?? LogReader.firstEncrypted(
                    directory: files.log, fileSystem: PosixFileSystem()) ?? log.nextSequence
            try description.write(files, keys: keys)
        } catch {
            log.close()
            throw error
        }
    }
}

extension LogKey {
    /// Returns the keys with the position from which the log is encrypted: from an authentic description, otherwise
    /// from the log's first encrypted segment.
    package static func requiring(
        _ keys: [LogKey], in files: StoreFiles, fileSystem: any FileSystem = PosixFileSystem()
    ) -> [LogKey] {
        guard !keys.isEmpty else { return keys }
        let described = (try? StoreDescription.read(files, keys: keys))?.encryptedFrom
        guard let first = described ?? LogReader.firstEncrypted(directory: files.log, fileSystem: fileSystem) else {
            return keys
        }
        return keys.map { $0.requiringEncryption(from: first) }
    }
}
