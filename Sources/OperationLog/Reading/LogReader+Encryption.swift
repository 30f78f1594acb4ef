extension LogReader {
    /// The first of the log's segments that is encrypted, by the number of its first record; nil if none is.
    ///
    /// Reads headers only, up to that one. One that does not hold counts as not encrypted.
    public static func firstEncrypted(directory: String, fileSystem: any FileSystem) -> UInt64? {
        headers(directory, fileSystem).first { $0.encryption != nil }?.firstSequence
    }

    /// Whether one of the keys is that of an encrypted segment of the log; nil if no segment is encrypted.
    public static func isEncrypted(
        directory: String, with keys: [LogKey], fileSystem: any FileSystem
    ) -> Bool? {
        guard let first = headers(directory, fileSystem).first(where: { $0.encryption != nil }) else { return nil }
        return keys.contains { first.isEncrypted(with: $0) }
    }

    /// Whether a segment shows that the description of the store it is of has to be authenticated: the versions that made
    /// segments without a sign of it did not do that.
    public static func requiresAuthentication(
        directory: String, with keys: [LogKey], fileSystem: any FileSystem
    ) -> Bool {
        headers(directory, fileSystem).contains { $0.isMarked(with: keys) }
    }

    /// The headers of the segments that can be read, in the order of the log.
    private static func headers(_ directory: String, _ fileSystem: any FileSystem) -> some Sequence<SegmentHeader> {
        let names = (try? fileSystem.list(directory)) ?? []
        return SegmentName.sorted(names).lazy.compactMap { first -> SegmentHeader? in
            let path = directory + "/" + SegmentName.name(.segment, firstSequence: first)
            guard let file = try? fileSystem.open(path, .read) else { return nil }
            defer { file.close() }
            guard let bytes = try? file.read(at: 0, count: SegmentHeader.maximumByteCount) else { return nil }
            return try? SegmentHeader.decode(bytes)
        }
    }

    /// Whether any of the log's segments and snapshots is encrypted: a log that got its key later begins in the clear.
    ///
    /// Reads the headers only and needs no key. What has a header that does not hold counts as not encrypted.
    public static func hasEncryption(directory: String, fileSystem: any FileSystem) -> Bool {
        guard let names = try? fileSystem.list(directory) else { return false }
        return names.contains { name in
            guard SegmentName.Form.allCases.contains(where: { SegmentName.firstSequence(of: name, $0) != nil }),
                let file = try? fileSystem.open(directory + "/" + name, .read)
            else { return false }
            defer { file.close() }
            guard let bytes = try? file.read(at: 0, count: SegmentHeader.maximumByteCount) else { return false }
            return (try? SegmentHeader.decode(bytes))?.encryption != nil
        }
    }
}
