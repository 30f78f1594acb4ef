import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A temporary directory, removed with the test.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/tidelog-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { fatalError("mkdtemp failed: errno \(errno)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    private static let shared = Mutex<[String]>([])

    /// Returns a directory for several tests, removed when the process exits.
    package static func untilExit() -> TemporaryDirectory {
        let directory = TemporaryDirectory()
        shared.withLock { paths in
            if paths.isEmpty {
                atexit { TemporaryDirectory.shared.withLock { for path in $0 { TemporaryDirectory.remove(path) } } }
            }
            paths.append(directory.path)
        }
        return directory
    }

    private static func remove(_ path: String) {
        for name in names(path) {
            let entry = path + "/" + name
            if unlink(entry) != 0 { remove(entry) }
        }
        rmdir(path)
    }

    private static func names(_ path: String) -> [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Returns the paths of all files in the directory and its subdirectories.
    package static func files(_ path: String) -> [String] {
        names(path).flatMap { name in
            let entry = path + "/" + name
            var status = stat()
            guard lstat(entry, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return [entry] }
            return files(entry)
        }
    }

    package static func read(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = chunk.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, off_t(bytes.count)) }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
    }

    package static func write(_ bytes: [UInt8], to path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        precondition(file >= 0, "cannot write \(path)")
        defer { close(file) }
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(file, $0.baseAddress! + offset, bytes.count - offset, off_t(offset))
            }
            precondition(count > 0, "cannot write \(path)")
            offset += count
        }
    }

    package static func remove(file path: String) { unlink(path) }
}
