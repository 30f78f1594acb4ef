import Operations

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Reads the content of a media stream, encrypted or not, completely or in part.
final class StreamReader {
    private let file: Int32
    /// The encryption, or nil for an unencrypted file.
    private let seal: StreamSeal?
    let byteCount: UInt64
    /// The offset of the next chunk of ``next()``.
    private var offset: UInt64 = 0

    /// Opens a file. Returns nil if it cannot be opened, has the wrong length, or belongs to another content.
    init?(_ path: String, _ content: StreamContent, _ key: StreamKey?) {
        byteCount = content.byteCount
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        self.file = file
        guard file >= 0 else { return nil }
        seal = key.flatMap { key in
            var header = [UInt8](repeating: 0, count: StreamSeal.headerSize)
            guard Self.fill(&header, from: file, at: 0) else { return nil }
            return StreamSeal(key, header: header, digest: content.digest)
        }
        let size = key == nil ? byteCount : StreamSeal.storedSize(of: byteCount)
        guard Self.size(of: file) == size, (seal == nil) == (key == nil) else {
            close(file)
            return nil
        }
    }

    deinit { close(file) }

    /// Returns the next bytes, empty at the end, or nil if they cannot be read or authenticated.
    func next() -> [UInt8]? {
        let end = min(byteCount, offset + UInt64(StreamSeal.chunkSize))
        guard let bytes = bytes(in: offset..<end) else { return nil }
        offset = end
        return bytes
    }

    /// Returns the bytes of a range within the content. Cost: reads the chunks that overlap it.
    func bytes(in range: Range<UInt64>) -> [UInt8]? {
        guard range.upperBound <= byteCount else { return nil }
        guard let seal else {
            var bytes = [UInt8](repeating: 0, count: range.count)
            return Self.fill(&bytes, from: file, at: range.lowerBound) ? bytes : nil
        }
        // An empty content has one chunk too.
        guard !range.isEmpty || byteCount == 0 else { return [] }
        let size = UInt64(StreamSeal.chunkSize)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        let last = range.isEmpty ? 0 : (range.upperBound - 1) / size
        for number in range.lowerBound / size...last {
            guard let chunk = chunk(number, seal) else { return nil }
            let start = number * size
            let lower = Int(max(range.lowerBound, start) - start)
            bytes += chunk[lower..<Int(min(range.upperBound - start, UInt64(chunk.count)))]
        }
        return bytes
    }

    private func chunk(_ number: UInt64, _ seal: StreamSeal) -> [UInt8]? {
        let last = StreamSeal.lastChunk(of: byteCount)
        let count = number < last ? StreamSeal.chunkSize : Int(byteCount - last * UInt64(StreamSeal.chunkSize))
        var sealed = [UInt8](repeating: 0, count: count + StreamSeal.tagSize)
        let place = UInt64(StreamSeal.headerSize) + number * UInt64(StreamSeal.storedChunkSize)
        guard Self.fill(&sealed, from: file, at: place) else { return nil }
        return seal.open(sealed[...], number: number, isLast: number == last)
    }

    private static func fill(_ bytes: inout [UInt8], from file: Int32, at offset: UInt64) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeMutableBytes {
                pread(file, $0.baseAddress, $0.count, off_t(clamping: offset + UInt64(done)))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    private static func size(of file: Int32) -> UInt64? {
        var status = stat()
        guard fstat(file, &status) == 0 else { return nil }
        return UInt64(max(0, status.st_size))
    }
}
