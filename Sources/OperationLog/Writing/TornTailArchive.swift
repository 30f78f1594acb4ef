/// Preserves the bytes that recovery cuts off a segment, in files next to the segments.
///
/// A file is named by its segment and the offset of the bytes, such as `00000000000000000001-4096.cut`. Readers ignore
/// it.
struct TornTailArchive {
    static let suffix = ".cut"
    /// The maximum number of such files. The oldest is removed first.
    static let limit = 8

    private let fileSystem: any FileSystem
    private let directory: String

    init(_ fileSystem: any FileSystem, directory: String) {
        self.fileSystem = fileSystem
        self.directory = directory
    }

    /// Copies the bytes from the offset to the end of the segment.
    ///
    /// - Returns: The path of the file, or nil if there are no bytes or all of them are zero.
    /// - Throws: An error if the file cannot be written and synced. In that case nothing may be cut.
    func store(_ segment: SegmentFile, from offset: UInt64) throws(LogError) -> String? {
        let end = try segment.size()
        guard offset < end, try hasContent(segment, from: offset) else { return nil }
        let name = SegmentName.name(firstSequence: segment.header.firstSequence)
            .dropLast(SegmentName.LogFileKind.segment.suffix.utf8.count)
        let path = "\(directory)/\(name)-\(offset)\(Self.suffix)"
        try onFiles { () throws(FileSystemError) in
            try removeOld()
            // The file of a recovery that was interrupted.
            do throws(FileSystemError) {
                try fileSystem.remove(path)
            } catch {
                guard error.isNotFound else { throw error }
            }
            let file = try fileSystem.open(path, .create)
            defer { file.close() }
            var position = offset
            while position < end {
                let bytes = try segment.file.read(at: position, count: 262_144)
                guard !bytes.isEmpty else { break }
                try file.write(bytes, at: position - offset)
                position += UInt64(bytes.count)
            }
            try file.sync()
            try fileSystem.syncDirectory(directory)
        }
        return path
    }

    private func hasContent(_ segment: SegmentFile, from offset: UInt64) throws(LogError) -> Bool {
        try onFiles { () throws(FileSystemError) in
            var position = offset
            while true {
                let bytes = try segment.file.read(at: position, count: 262_144)
                if bytes.isEmpty { return false }
                if bytes.contains(where: { $0 != 0 }) { return true }
                position += UInt64(bytes.count)
            }
        }
    }

    /// Removes the oldest files to make room for one.
    private func removeOld() throws(FileSystemError) {
        let kept = try fileSystem.list(directory).filter { $0.hasSuffix(Self.suffix) }.sorted()
        for name in kept.dropLast(Self.limit - 1) { try fileSystem.remove(directory + "/" + name) }
    }
}
