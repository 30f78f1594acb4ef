import Crypto
import Operations

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Writes a stream's bytes as they come, under a name of its own until all are there and durable: after a crash a file is
/// whole or not there. What is not finished goes with the last reference.
final class StreamFileWriter {
    private let files: StreamFiles
    private let temporary: String
    private var file: Int32
    private var hash = StreamHash()
    private(set) var count: UInt64 = 0

    /// - Parameter number: makes the name while it is written one that no other has.
    init(_ files: StreamFiles, number: UInt64) throws(TidelogError) {
        self.files = files
        temporary = files.directory + "/new-" + String(number, radix: 16)
        if mkdir(files.directory, 0o700) == 0 {
            // Otherwise a loss of power may take the folder with all that is durable in it.
            try StoreDirectory.syncParent(of: files.directory)
        } else if errno != EEXIST {
            throw Self.failure(files.directory)
        }
        file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.failure(temporary) }
    }

    deinit {
        if file >= 0 {
            close(file)
            unlink(temporary)
        }
    }

    func append(_ chunk: [UInt8]) throws(TidelogError) {
        var offset = 0
        while offset < chunk.count {
            let written = chunk.withUnsafeBytes { write(file, $0.baseAddress! + offset, chunk.count - offset) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw Self.failure(temporary) }
            offset += written
        }
        hash.add(chunk)
        count += UInt64(chunk.count)
    }

    /// Returns when the bytes survive a loss of power.
    func finish(mediaType: String, name: String? = nil) throws(TidelogError) -> StreamContent {
        let content = StreamContent(digest: hash.finish(), byteCount: count, mediaType: mediaType, name: name)
        guard fsync(file) == 0, rename(temporary, files.path(of: content)) == 0 else { throw Self.failure(temporary) }
        close(file)
        file = -1
        let folder = open(files.directory, O_RDONLY | O_DIRECTORY)
        guard folder >= 0 else { throw Self.failure(files.directory) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw Self.failure(files.directory) }
        return content
    }

    private static func failure(_ path: String) -> TidelogError {
        TidelogError(
            .storage, "The stream cannot be kept: \(String(cString: strerror(errno))).", place: path,
            recovery: "Check space and permissions.")
    }
}

/// SHA-256 over chunks.
struct StreamHash {
    private var hash = SHA256()

    mutating func add(_ chunk: [UInt8]) { chunk.withUnsafeBytes { hash.update(bufferPointer: $0) } }

    func finish() -> StreamDigest {
        guard let digest = StreamDigest(hash.finalize().withUnsafeBytes { Array($0) }) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        return digest
    }
}
