import Operations

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// The files that hold the bytes of streams. Each is named by the digest of its bytes, so that it never changes and one file
/// serves all that hold the same. In an encrypted store the files are encrypted as well (``StreamSeal``), and the names are
/// codes of the digests.
struct StreamFiles: Sendable {
    let directory: String
    /// The newest first; none where files hold the bytes as they are.
    var keys: [StreamKey] = []

    private func path(_ content: StreamContent, _ key: StreamKey?) -> String {
        directory + "/" + (key?.name(of: content.digest) ?? content.digest.description)
    }

    /// Where the content is, and what it is encrypted with: where there is none, where it would be.
    func place(of content: StreamContent) -> (path: String, key: StreamKey?) {
        let key = keys.first { size(of: path(content, $0)) != nil } ?? keys.first
        return (path(content, key), key)
    }

    func path(of content: StreamContent) -> String { place(of: content).path }

    /// Where what is written now goes.
    func newPath(of content: StreamContent) -> String { path(content, keys.first) }

    /// Whether the file is there and as long as it should be. Whether its bytes are those of the digest only reading all of
    /// them tells: ``isIntact(_:)``.
    func holds(_ content: StreamContent) -> Bool {
        let (path, key) = place(of: content)
        guard let size = size(of: path) else { return false }
        return size == (key == nil ? content.byteCount : StreamSeal.storedSize(of: content.byteCount))
    }

    /// Nil where the file is gone, or another one.
    func reader(of content: StreamContent) -> StreamReader? {
        guard holds(content) else { return nil }
        let (path, key) = place(of: content)
        return StreamReader(path, content, key)
    }

    /// Cost: reads the whole file.
    func isIntact(_ content: StreamContent) -> Bool { reader(of: content).map { isIntact(content, $0) } ?? false }

    private func isIntact(_ content: StreamContent, _ reader: StreamReader) -> Bool {
        var digest = StreamHash()
        while true {
            guard let chunk = reader.next() else { return false }
            if chunk.isEmpty { return digest.finish() == content.digest }
            digest.add(chunk)
        }
    }

    /// Removes the files of all other contents, and what a process left that ended while it wrote. Only while nobody writes.
    func removeAll(but kept: some Sequence<StreamDigest>) {
        var names: Set<String> = []
        for digest in kept {
            names.insert(digest.description)
            for key in keys { names.insert(key.name(of: digest)) }
        }
        for name in self.names where !names.contains(name) { unlink(directory + "/" + name) }
    }

    /// Encrypts the contents that are not, or not with the newest key: from before the store had it. What is damaged stays.
    func seal(_ contents: some Sequence<StreamContent>, random: () -> UInt64) throws(TidelogError) {
        guard let newest = keys.first else { return }
        let names = Set(self.names)
        for content in contents {
            let former: [StreamKey?] = [nil] + keys.dropFirst().map { $0 }
            let others = former.filter { names.contains($0?.name(of: content.digest) ?? content.digest.description) }
            for key in others {
                let old = path(content, key)
                if !names.contains(newest.name(of: content.digest)) {
                    guard let reader = StreamReader(old, content, key), isIntact(content, reader) else { continue }
                    try copy(content, from: old, key, random())
                }
                unlink(old)
            }
        }
    }

    private func copy(
        _ content: StreamContent, from path: String, _ key: StreamKey?, _ number: UInt64
    ) throws(TidelogError) {
        let writer = try StreamFileWriter(self, number: number)
        guard let reader = StreamReader(path, content, key) else { return }
        while let chunk = reader.next(), !chunk.isEmpty { try writer.append(chunk) }
        if writer.count == content.byteCount { _ = try writer.finish(mediaType: content.mediaType) }
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
