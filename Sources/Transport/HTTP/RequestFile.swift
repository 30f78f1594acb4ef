#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A file whose bytes are a request's body. It must not change while it is sent.
public struct RequestFile: Sendable, Hashable {
    public var path: String
    /// In bytes: as many are announced and sent.
    public var count: Int

    public init(path: String, count: Int) {
        self.path = path
        self.count = count
    }

    /// Nil where it cannot be opened.
    func open() -> OpenFile? {
        #if canImport(Darwin)
            let descriptor = Darwin.open(path, O_RDONLY | O_CLOEXEC)
        #elseif canImport(Glibc)
            let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        #else
            let descriptor = Musl.open(path, O_RDONLY | O_CLOEXEC)
        #endif
        return descriptor < 0 ? nil : OpenFile(descriptor)
    }

    /// All of it in memory. Throws where it is not there, or of another length.
    func bytes() throws(TransportError) -> [UInt8] {
        guard let file = open() else { throw unreadable }
        var bytes = [UInt8](repeating: 0, count: count)
        var offset = 0
        while offset < count {
            let read = bytes.withUnsafeMutableBytes { file.read(into: .init(rebasing: $0[offset...])) }
            guard let read, read > 0 else { throw unreadable }
            offset += read
        }
        return bytes
    }

    var unreadable: TransportError {
        TransportError(.invalidRequest, "The file \(path) cannot be read whole.", mayHaveBeenSent: false)
    }
}

/// Closed with the last reference.
final class OpenFile: Sendable {
    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { _ = close(descriptor) }

    /// How many bytes there were; 0 at the end, nil where it cannot be read.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        #if canImport(Darwin)
            let count = Darwin.read(descriptor, buffer.baseAddress, buffer.count)
        #elseif canImport(Glibc)
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        #else
            let count = Musl.read(descriptor, buffer.baseAddress, buffer.count)
        #endif
        return count < 0 ? nil : count
    }

    func rewind() { lseek(descriptor, 0, SEEK_SET) }
}
