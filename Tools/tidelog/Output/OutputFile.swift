#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A file that gets its name when it is complete, or standard output. A pipe, a device or any other file that is not
/// regular is written directly. Only the owner can access a new file, because it contains data of the store.
final class OutputFile {
    /// The path, or nil for standard output.
    private let path: String?
    /// The file to replace, after following links, and the temporary name of the new file; nil if the file is written
    /// directly.
    private var names: (target: String, unfinished: String)?
    private var descriptor: Int32 = -1
    private var buffer: [UInt8] = []
    private var isDone = false
    private(set) var byteCount = 0

    private static let limit = 1 << 16

    /// - Parameter path: The path of a file, or nil or `-` for standard output.
    init(_ path: String?) throws {
        self.path = path == "-" ? nil : path
        guard let path = self.path else { return }
        var status = stat()
        if stat(path, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFREG, let target = Self.followed(path) {
                try openUnfinished(target)
                // The permissions of the former file, as far as the user may set them.
                _ = fchmod(descriptor, status.st_mode & 0o777)
            } else {
                descriptor = open(path, O_WRONLY | O_CLOEXEC)
            }
        } else if lstat(path, &status) == 0 {
            // A link whose target does not exist yet.
            descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        } else {
            try openUnfinished(path)
        }
        guard descriptor >= 0 else { throw failure() }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        guard let names else { return }
        if !isDone { unlink(names.unfinished) }
        TemporaryFiles.unregister(names.unfinished)
    }

    /// Creates the temporary file next to the target, under a new name.
    private func openUnfinished(_ target: String) throws {
        for number in 0..<1_000 {
            let unfinished = "\(target).\(getpid())-\(number).new"
            var code: Int32 = 0
            TemporaryFiles.adding {
                descriptor = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
                code = errno
                return descriptor >= 0 ? unfinished : nil
            }
            if descriptor >= 0 {
                names = (target, unfinished)
                return
            }
            guard code == EEXIST else {
                errno = code
                throw failure()
            }
        }
        throw failure()
    }

    private static func followed(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    var isStandardOutput: Bool { path == nil }

    func write(_ text: String) throws {
        byteCount += text.utf8.count
        guard path != nil else { return try Console.write(Array(text.utf8)) }
        buffer += Array(text.utf8)
        if buffer.count >= Self.limit { try flush() }
    }

    /// Renames the temporary file to its target.
    func finish() throws {
        guard path != nil else { return }
        try flush()
        if let names {
            guard fsync(descriptor) == 0, rename(names.unfinished, names.target) == 0 else { throw failure() }
        }
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
            recovery: "Check the free space and the permissions.")
    }
}
