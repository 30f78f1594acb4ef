import Crypto
package import Operations

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Writes a stream to a temporary file until all bytes are durable.
///
/// After a crash, a file is either complete or absent. An unfinished file is removed with the last reference to the
/// writer.
package final class StreamFileWriter {
    private let files: StreamFiles
    private let temporary: String
    private var file: Int32
    private var hash = StreamHash()
    package private(set) var count: UInt64 = 0
    /// The encryption, or nil for unencrypted files.
    private let seal: StreamSeal?
    /// The bytes that are not sealed yet, and the number of sealed chunks.
    private var pending: [UInt8] = []
    private var chunks: UInt64 = 0

    /// Creates a temporary file.
    ///
    /// - Parameter number: A number that makes the temporary name unique.
    package init(_ files: StreamFiles, number: UInt64) throws(TidelogError) {
        self.files = files
        seal = files.keys.first.map { StreamSeal($0) }
        temporary = files.directory + "/new-" + String(number, radix: 16)
        if mkdir(files.directory, 0o700) == 0 {
            // Otherwise a power loss could remove the new directory with its durable files.
            try StoreDirectory.syncParent(of: files.directory)
        } else if errno != EEXIST {
            throw Self.failure(files.directory)
        }
        file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.failure(temporary) }
        // The header is written when the digest is known.
        if seal != nil { try write([UInt8](repeating: 0, count: StreamSeal.headerSize)) }
    }

    deinit {
        if file >= 0 {
            close(file)
            unlink(temporary)
        }
    }

    package func append(_ chunk: [UInt8]) throws(TidelogError) {
        if seal == nil { try write(chunk) } else { try appendSealed(chunk) }
        hash.add(chunk)
        count += UInt64(chunk.count)
    }

    private func appendSealed(_ bytes: [UInt8]) throws(TidelogError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // A chunk is sealed only when more bytes follow, because the last chunk is marked as the last.
            if pending.count == StreamSeal.chunkSize { try writePending(isLast: false) }
            let some = rest.prefix(StreamSeal.chunkSize - pending.count)
            pending += some
            rest = rest.dropFirst(some.count)
        }
    }

    private func writePending(isLast: Bool) throws(TidelogError) {
        guard let sealed = seal?.seal(pending, number: chunks, isLast: isLast) else { throw Self.failure(temporary) }
        try write(sealed)
        chunks += 1
        pending.removeAll(keepingCapacity: true)
    }

    private func write(_ bytes: [UInt8], at start: UInt64? = nil) throws(TidelogError) {
        var offset = 0
        while offset < bytes.count {
            let written = bytes[offset...].withUnsafeBytes { rest in
                guard let start else { return Self.write(file, rest) }
                return pwrite(file, rest.baseAddress, rest.count, off_t(clamping: start + UInt64(offset)))
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw Self.failure(temporary) }
            offset += written
        }
    }

    private static func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
            Darwin.write(file, bytes.baseAddress, bytes.count)
        #elseif canImport(Glibc)
            Glibc.write(file, bytes.baseAddress, bytes.count)
        #else
            Musl.write(file, bytes.baseAddress, bytes.count)
        #endif
    }

    /// Finishes the file. When it returns, the bytes survive a power loss.
    package func finish(mediaType: String, name: String? = nil) throws(TidelogError) -> StreamContent {
        let content = StreamContent(digest: hash.finish(), byteCount: count, mediaType: mediaType, name: name)
        if let seal {
            try writePending(isLast: true)
            guard let header = seal.header(digest: content.digest) else { throw Self.failure(temporary) }
            try write(header, at: 0)
        }
        guard fsync(file) == 0, rename(temporary, files.newPath(of: content)) == 0 else {
            throw Self.failure(temporary)
        }
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
            .storage, "The stream cannot be stored: \(String(cString: strerror(errno))).", place: path,
            recovery: "Check the free space and the permissions.")
    }
}

/// A SHA-256 hash over chunks.
package struct StreamHash {
    private var hash = SHA256()

    package init() {}

    package mutating func add(_ chunk: [UInt8]) { chunk.withUnsafeBytes { hash.update(bufferPointer: $0) } }

    package func finish() -> StreamDigest {
        guard let digest = StreamDigest(hash.finalize().withUnsafeBytes { Array($0) }) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        return digest
    }
}
