#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
internal import Synchronization

/// Standard output and standard error as bytes. Output is buffered and written in large parts; see ``flush()``.
enum Console {
    /// The reader of standard output has closed it.
    struct BrokenPipe: Error {}
    /// Standard output cannot be written: the disk is full, or the descriptor is closed.
    struct OutputFailed: Error, CustomStringConvertible {
        let description: String
    }

    private static let buffer = Mutex<[UInt8]>([])
    private static let limit = 1 << 16

    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    /// Prints a line. It may stay in the buffer until ``flush()``.
    static func print(_ line: String) throws { try write(Array(line.utf8) + [UInt8(ascii: "\n")]) }

    static func write(_ bytes: [UInt8]) throws {
        let bytes = Terminal.isOutput ? TerminalText.harmless(bytes) : bytes
        let isFull = buffer.withLock { buffer in
            buffer += bytes
            return buffer.count >= limit
        }
        if isFull { try flush() }
    }

    static func flush() throws {
        let bytes = buffer.withLock { buffer in
            defer { buffer = [] }
            return buffer
        }
        try write(bytes, to: STDOUT_FILENO)
    }

    /// Writes the buffered output before another process writes. Errors are ignored, because they cannot be reported.
    static func flushQuietly() { try? flush() }

    /// Prints a line on standard error, after all earlier output. Errors are ignored, because they cannot be reported.
    static func printError(_ line: String) {
        try? flush()
        let bytes = Array(line.utf8) + [UInt8(ascii: "\n")]
        try? write(isWatched ? TerminalText.harmless(bytes) : bytes, to: STDERR_FILENO)
    }

    /// Whether standard error is a terminal, that is, a user is watching.
    static var isWatched: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes unchanged text to standard error. Errors are ignored, because they cannot be reported.
    static func writeError(_ text: String) { try? write(Array(text.utf8), to: STDERR_FILENO) }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE {
                throw BrokenPipe()
            } else if errno != EINTR && errno != EAGAIN {
                throw OutputFailed(description: "The output cannot be written: \(String(cString: strerror(errno))).")
            }
        }
    }

    private static func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Darwin)
            Darwin.write(descriptor, start, count)
        #elseif canImport(Glibc)
            Glibc.write(descriptor, start, count)
        #else
            Musl.write(descriptor, start, count)
        #endif
    }
}
