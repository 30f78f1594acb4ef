import Operations

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// The files that hold the bytes of streams. Each is named by the digest of its bytes, so that it never changes and one file
/// serves all that hold the same.
struct StreamFiles: Sendable {
    let directory: String

    func path(of content: StreamContent) -> String { directory + "/" + content.digest.description }

    /// Whether the file is there and as long as it should be. Whether its bytes are those of the digest only reading all of
    /// them tells: ``isIntact(_:)``.
    func holds(_ content: StreamContent) -> Bool { size(of: path(of: content)) == content.byteCount }

    /// Cost: reads the whole file.
    func isIntact(_ content: StreamContent) -> Bool {
        guard holds(content), let reader = StreamFileReader(path(of: content)) else { return false }
        var digest = StreamHash()
        while true {
            guard let chunk = reader.next() else { return false }
            if chunk.isEmpty { return digest.finish() == content.digest }
            digest.add(chunk)
        }
    }

    /// Removes the files of all other contents, and what a process left that ended while it wrote. Only while nobody writes.
    func removeAll(but kept: Set<StreamDigest>) {
        let names = Set(kept.map(\.description))
        for name in self.names where !names.contains(name) { unlink(directory + "/" + name) }
    }

    var isEmpty: Bool { names.isEmpty }

    private var names: [String] { StoreDirectory.names(directory) }

    private func size(of path: String) -> UInt64? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return UInt64(max(0, status.st_size))
    }
}

/// Reads a file from its beginning to its end.
final class StreamFileReader {
    private let file: Int32
    private static let chunkSize = 1 << 18

    /// Nil where it cannot be opened.
    init?(_ path: String) {
        file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if file < 0 { return nil }
    }

    deinit { close(file) }

    /// Empty at the end; nil where it cannot be read.
    func next() -> [UInt8]? {
        var isReadable = true
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.chunkSize) { buffer, count in
            let length = read(file, buffer.baseAddress, Self.chunkSize)
            isReadable = length >= 0
            count = max(0, length)
        }
        return isReadable ? bytes : nil
    }
}
