#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A file that is the body of a request. It must not change while it is sent.
public struct RequestFile: Sendable, Hashable, RequestContent {
    /// The path of the file.
    public var path: String
    /// The size in bytes, which is announced and sent.
    public var count: Int

    /// Creates the body from a file of the given size in bytes.
    public init(path: String, count: Int) {
        self.path = path
        self.count = count
    }

    /// Opens the file. Returns `nil` if that is not possible.
    package func open() -> (any OpenContent)? {
        #if canImport(Darwin)
            let descriptor = Darwin.open(path, O_RDONLY | O_CLOEXEC)
        #elseif canImport(Glibc)
            let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        #else
            let descriptor = Musl.open(path, O_RDONLY | O_CLOEXEC)
        #endif
        return descriptor < 0 ? nil : OpenFile(descriptor)
    }
}

/// An open file, closed with the last reference.
final class OpenFile: OpenContent {
    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { _ = close(descriptor) }

    /// Reads bytes. Returns their number, 0 at the end, or `nil` if reading fails.
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
