import Crypto
import Transport

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Holds an answer back until its last byte has come.
///
/// The first bytes are held in memory. What follows goes to a file that has no name any more once it is open, so that nothing
/// is left of it however the process ends, encrypted with a key that only this object has.
///
/// `@unchecked Sendable` because one task at a time uses it.
final class PageSpool: @unchecked Sendable {
    /// How many bytes are held in memory.
    static let memoryLimit = 4 << 20
    /// How many bytes of the answer are encrypted together.
    private static let blockSize = 1 << 20

    /// Nil holds everything in memory.
    private let directory: String?
    private let memoryLimit: Int
    private var chunks: [[UInt8]] = []
    private var count = 0
    /// What will be the next block of the file.
    private var pending: [UInt8] = []
    private var file: Int32 = -1
    /// How long each block in the file is.
    private var blocks: [Int] = []
    private let key = SymmetricKey(size: .bits256)
    private var readChunks = 0
    private var readBlocks = 0

    /// - Parameter directory: where the file is made, if one is needed.
    init(directory: String?, memoryLimit: Int = PageSpool.memoryLimit) {
        self.directory = directory
        self.memoryLimit = memoryLimit
    }

    deinit { if file >= 0 { close(file) } }

    /// Adds the bytes behind those that are there.
    func append(_ chunk: [UInt8]) throws(TidelogError) {
        guard directory != nil, !pending.isEmpty || !blocks.isEmpty || count + chunk.count > memoryLimit else {
            count += chunk.count
            return chunks.append(chunk)
        }
        pending += chunk
        if pending.count >= Self.blockSize { try writeBlock() }
    }

    /// The bytes from the beginning, once; to be asked for when all are there.
    func body() throws(TidelogError) -> StreamedBody {
        if file >= 0, lseek(file, 0, SEEK_SET) < 0 { throw Self.failure() }
        let body = ResponseBody { self.next() }
        return StreamedBody(StreamedBody.Reading(body, tell: { _, _, _ in }))
    }

    private func next() -> Result<[UInt8]?, TransportError> {
        if readChunks < chunks.count {
            defer {
                chunks[readChunks] = []
                readChunks += 1
            }
            return .success(chunks[readChunks])
        }
        if readBlocks < blocks.count {
            readBlocks += 1
            guard let block = readBlock(blocks[readBlocks - 1]) else {
                return .failure(TransportError(.other, Self.failure().message, mayHaveBeenSent: false))
            }
            return .success(block)
        }
        guard !pending.isEmpty else { return .success(nil) }
        defer { pending = [] }
        return .success(pending)
    }

    // MARK: File

    private func writeBlock() throws(TidelogError) {
        if file < 0 { file = try Self.open(in: directory ?? "") }
        guard let sealed = try? ChaChaPoly.seal(pending, using: key).combined else { throw Self.failure() }
        let bytes = Array(sealed)
        var offset = 0
        while offset < bytes.count {
            let written = bytes[offset...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw Self.failure() }
            offset += written
        }
        blocks.append(bytes.count)
        pending = []
    }

    private func readBlock(_ length: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: length)
        var offset = 0
        while offset < length {
            let count = bytes[offset...].withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            offset += count
        }
        guard let box = try? ChaChaPoly.SealedBox(combined: bytes), let block = try? ChaChaPoly.open(box, using: key)
        else { return nil }
        return Array(block)
    }

    private static func open(in directory: String) throws(TidelogError) -> Int32 {
        var name = Array("\(directory)/page-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else { throw failure() }
        unlink(name)
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        return file
    }

    private static func failure() -> TidelogError {
        TidelogError(
            .storage, "A page of the download cannot be held back on the disk: \(String(cString: strerror(errno))).",
            recovery: "Check space and permissions, or download in smaller pages.")
    }
}
