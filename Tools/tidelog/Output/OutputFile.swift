#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A file that has its name when it is whole, or standard output.
final class OutputFile {
    /// Nil is standard output.
    private let path: String?
    private var descriptor: Int32 = -1
    private var buffer: [UInt8] = []
    private var isDone = false
    private(set) var byteCount = 0

    private static let limit = 1 << 16

    /// - Parameter path: nil or `-` is standard output.
    init(_ path: String?) throws {
        self.path = path == "-" ? nil : path
        guard let path = self.path else { return }
        descriptor = open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure() }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if !isDone, let path { unlink(path + ".new") }
    }

    var isStandardOutput: Bool { path == nil }

    func write(_ text: String) throws {
        byteCount += text.utf8.count
        guard path != nil else { return try Console.write(Array(text.utf8)) }
        buffer += Array(text.utf8)
        if buffer.count >= Self.limit { try flush() }
    }

    /// Gives the file its name.
    func finish() throws {
        guard let path else { return }
        try flush()
        guard fsync(descriptor) == 0, rename(path + ".new", path) == 0 else { throw failure() }
        isDone = true
    }

    private func flush() throws {
        var rest = buffer[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { writeBytes($0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw failure()
            }
        }
        buffer = []
    }

    private func writeBytes(_ start: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Darwin)
            Darwin.write(descriptor, start, count)
        #elseif canImport(Glibc)
            Glibc.write(descriptor, start, count)
        #else
            Musl.write(descriptor, start, count)
        #endif
    }

    private func failure() -> CommandFailure {
        CommandFailure(
            "The file cannot be written: \(String(cString: strerror(errno))).", place: path,
            recovery: "Check space and permissions.")
    }
}
