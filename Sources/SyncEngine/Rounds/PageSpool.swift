import Crypto
import OfflineStore
import Transport

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A buffer that holds a response back until its last byte has arrived.
///
/// The first bytes stay in memory. The rest is written to a temporary file that is unlinked as soon as it is open, so
/// it disappears however the process ends. The file is encrypted with a key that only this object has.
///
/// `@unchecked Sendable` because only one task at a time uses it.
final class PageSpool: @unchecked Sendable {
    /// The number of bytes that are held in memory.
    static let memoryLimit = 4 << 20
    /// The number of bytes that are encrypted as one block.
    private static let blockSize = 1 << 20

    /// The directory of the file, or nil to hold everything in memory.
    private let directory: String?
    private let memoryLimit: Int
    private var chunks: [[UInt8]] = []
    private var count = 0
    /// The bytes of the next block of the file.
    private var pending: [UInt8] = []
    private var file: Int32 = -1
    /// The length of each block in the file.
    private var blocks: [Int] = []
    private let key = SymmetricKey(size: .bits256)
    private var readChunks = 0
    private var readBlocks = 0

    /// Creates an empty buffer.
    ///
    /// - Parameter directory: The directory in which a file is created if one is needed.
    init(directory: String?, memoryLimit: Int = PageSpool.memoryLimit) {
        self.directory = directory
        self.memoryLimit = memoryLimit
    }

    deinit { if file >= 0 { close(file) } }

    /// Appends bytes.
    func append(_ chunk: [UInt8]) throws(TidelogError) {
        guard directory != nil, !pending.isEmpty || !blocks.isEmpty || count + chunk.count > memoryLimit else {
            count += chunk.count
            return chunks.append(chunk)
        }
        pending += chunk
        if pending.count >= Self.blockSize { try writeBlock() }
    }

    /// Returns all bytes from the beginning. It may be called once, after the last append.
    func body() throws(TidelogError) -> StreamedBody {
        if file >= 0, lseek(file, 0, SEEK_SET) < 0 { throw Self.failure() }
        let body = ResponseBody { self.next() }
        return StreamedBody(StreamedBody.Reading(body, completion: { _, _, _ in }))
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
            .storage,
            "A page of the download cannot be written to a temporary file: \(String(cString: strerror(errno))).",
            recovery: "Check the free space and the permissions, or download smaller pages.")
    }
}
