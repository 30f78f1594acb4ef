package import Operations

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// The directory of stream files.
///
/// Each file is named by the digest of its content, so it never changes, and equal contents share a file. In an
/// encrypted store the files are encrypted too (``StreamSeal``), and their names are authentication codes of the
/// digests.
package struct StreamFiles: Sendable {
    let directory: String
    /// The keys, newest first; empty if the files are not encrypted.
    var keys: [StreamKey] = []

    private func path(_ content: StreamContent, _ key: StreamKey?) -> String {
        directory + "/" + (key?.name(of: content.digest) ?? content.digest.description)
    }

    /// Returns the path of the content and its key. If the file does not exist, returns its future path and key.
    func place(of content: StreamContent) -> (path: String, key: StreamKey?) {
        let key = keys.first { size(of: path(content, $0)) != nil } ?? keys.first
        return (path(content, key), key)
    }

    func path(of content: StreamContent) -> String { place(of: content).path }

    /// Returns the path for newly written content.
    func newPath(of content: StreamContent) -> String { path(content, keys.first) }

    /// Returns whether the file exists with the right length. Only ``isIntact(_:)`` checks the digest.
    package func holds(_ content: StreamContent) -> Bool {
        let (path, key) = place(of: content)
        guard let size = size(of: path) else { return false }
        return size == (key == nil ? content.byteCount : StreamSeal.storedSize(of: content.byteCount))
    }

    /// Returns a reader, or nil if the file is missing or differs.
    func reader(of content: StreamContent) -> StreamReader? {
        guard holds(content) else { return nil }
        let (path, key) = place(of: content)
        return StreamReader(path, content, key)
    }

    /// Returns whether the file matches its digest. Cost: reads the whole file.
    func isIntact(_ content: StreamContent) -> Bool { reader(of: content).map { isIntact(content, $0) } ?? false }

    private func isIntact(_ content: StreamContent, _ reader: StreamReader) -> Bool {
        var digest = StreamHash()
        while true {
            guard let chunk = reader.next() else { return false }
            if chunk.isEmpty { return digest.finish() == content.digest }
            digest.add(chunk)
        }
    }

    /// Removes the files of all other contents, and the temporary files of terminated processes. No write may be in
    /// progress.
    func removeAll(but kept: some Sequence<StreamDigest>) {
        var names: Set<String> = []
        for digest in kept {
            names.insert(digest.description)
            for key in keys { names.insert(key.name(of: digest)) }
        }
        for name in self.names where !names.contains(name) { unlink(directory + "/" + name) }
    }

    /// Encrypts files that are unencrypted or have an older key. Damaged files remain unchanged.
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

/// Reads a file sequentially.
final class StreamFileReader {
    private let file: Int32
    private static let chunkSize = 1 << 18

    /// Opens a file, or returns nil if that fails.
    init?(_ path: String) {
        file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if file < 0 { return nil }
    }

    deinit { close(file) }

    /// Returns the next bytes, empty at the end, or nil after a read error.
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
