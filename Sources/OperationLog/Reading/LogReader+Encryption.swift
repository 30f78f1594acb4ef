extension LogReader {
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
