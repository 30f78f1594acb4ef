extension LogReader {
    /// Returns the number of the first record in the first encrypted segment, or nil if no segment is encrypted.
    ///
    /// Reads headers only, up to that segment. A segment with an invalid header counts as not encrypted.
    package static func firstEncrypted(directory: String, fileSystem: any FileSystem) -> UInt64? {
        headers(directory, fileSystem).first { $0.encryption != nil }?.firstSequence
    }

    /// Returns whether one of the keys matches the first encrypted segment, or nil if no segment is encrypted.
    package static func isEncrypted(
        directory: String, with keys: [LogKey], fileSystem: any FileSystem
    ) -> Bool? {
        guard let first = headers(directory, fileSystem).first(where: { $0.encryption != nil }) else { return nil }
        return keys.contains { first.isEncrypted(with: $0) }
    }

    /// Returns whether a segment shows that the store description must be authenticated.
    ///
    /// Versions that created segments without this mark did not authenticate the description.
    package static func requiresAuthentication(
        directory: String, with keys: [LogKey], fileSystem: any FileSystem
    ) -> Bool {
        headers(directory, fileSystem).contains { $0.isMarked(with: keys) }
    }

    /// Returns the headers of the readable segments, in the order of the log.
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

    /// Returns whether any segment or snapshot of the log is encrypted.
    ///
    /// A log whose key was added later begins unencrypted. Reads headers only and needs no key. A file with an invalid
    /// header counts as not encrypted.
    package static func hasEncryption(directory: String, fileSystem: any FileSystem) -> Bool {
        guard let names = try? fileSystem.list(directory) else { return false }
        return names.contains { name in
            guard SegmentName.LogFileKind.allCases.contains(where: { SegmentName.firstSequence(of: name, $0) != nil }),
                let file = try? fileSystem.open(directory + "/" + name, .read)
            else { return false }
            defer { file.close() }
            guard let bytes = try? file.read(at: 0, count: SegmentHeader.maximumByteCount) else { return false }
            return (try? SegmentHeader.decode(bytes))?.encryption != nil
        }
    }
}
