import OfflineStore
import Synchronization
import Transport

extension LocalStream {
    /// The content as a request body.
    var requestContent: any RequestContent {
        isEncrypted ? EncryptedContent(stream: self) : RequestFile(path: path, count: byteCount)
    }
}

/// The content of an encrypted stream, decrypted in chunks during the transmission.
private struct EncryptedContent: RequestContent {
    let stream: LocalStream

    var count: Int { stream.byteCount }
    var path: String { stream.path }

    func open() -> (any OpenContent)? { OpenStream(stream) }
}

private final class OpenStream: OpenContent {
    private struct Reading {
        var next = 0
        /// Decrypted bytes that were not read yet.
        var chunk: ArraySlice<UInt8> = []
    }

    private let stream: LocalStream
    private let reading = Mutex(Reading())

    init(_ stream: LocalStream) { self.stream = stream }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        reading.withLock { reading in
            if reading.chunk.isEmpty, reading.next < stream.byteCount {
                let end = min(stream.byteCount, reading.next + StreamSeal.chunkSize)
                guard let chunk = try? stream.bytes(in: reading.next..<end) else { return nil }
                reading = Reading(next: end, chunk: chunk[...])
            }
            let some = reading.chunk.prefix(buffer.count)
            some.withUnsafeBytes { buffer.copyMemory(from: $0) }
            reading.chunk = reading.chunk.dropFirst(some.count)
            return some.count
        }
    }

    func rewind() { reading.withLock { $0 = Reading() } }
}
