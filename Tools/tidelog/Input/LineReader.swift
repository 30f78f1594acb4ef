#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A reader of a file, or of standard input, line by line. It returns a line as soon as its end has arrived.
struct LineReader: ~Copyable {
    /// The name of `-` in messages.
    static let standardInput = "standard input"
    static let lineLimit = 64 << 20

    let name: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    /// - Parameter path: The path of a file, or `-` for standard input.
    init(path: String) throws {
        name = path == "-" ? Self.standardInput : path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(
                "\(path) cannot be read: \(String(cString: strerror(errno))).", recovery: "Check the name of the file.")
        }
    }

    deinit { if descriptor > STDIN_FILENO { close(descriptor) } }

    /// Returns the next line without its end, or nil after the last one.
    mutating func next() throws -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return Array(buffer[start..<end])
            }
            if isAtEnd {
                defer { start = buffer.count }
                return start < buffer.count ? Array(buffer[start...]) : nil
            }
            guard buffer.count - start <= Self.lineLimit else {
                throw CommandFailure("A line of \(name) is longer than \(Self.lineLimit >> 20) MiB.")
            }
            buffer.removeFirst(start)
            start = 0
            searched = buffer.count
            try fill()
        }
    }

    /// Returns the remaining bytes.
    mutating func rest() throws -> [UInt8] {
        while !isAtEnd {
            guard buffer.count - start <= Self.lineLimit else {
                throw CommandFailure("\(name) is larger than \(Self.lineLimit >> 20) MiB.")
            }
            try fill()
        }
        defer { start = buffer.count }
        return Array(buffer[start...])
    }

    private mutating func fill() throws {
        let piece = try [UInt8](unsafeUninitializedCapacity: 1 << 16) { space, count in
            count = 0
            while true {
                let result = read(descriptor, space.baseAddress, space.count)
                if result >= 0 {
                    count = result
                    return
                }
                if errno != EINTR {
                    throw CommandFailure("\(name) cannot be read: \(String(cString: strerror(errno))).")
                }
            }
        }
        isAtEnd = piece.isEmpty
        buffer += piece
    }
}
