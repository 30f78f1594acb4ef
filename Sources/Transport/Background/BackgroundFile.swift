import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// The files of background transfers: bodies of requests and of responses.
enum BackgroundFile {
    private static let suffix = ".transfer"

    /// Returns the path of a file for a transfer.
    static func path(_ folder: String, _ id: String, _ use: String) -> String { "\(folder)/\(id)-\(use)\(suffix)" }

    /// Writes a new file that only its owner can read. Returns whether that was possible.
    static func write(_ bytes: [UInt8], to path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { _ = close(descriptor) }
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: buffer[done...]))
            }
            guard written > 0 else {
                _ = unlink(path)
                return false
            }
            done += written
        }
        return true
    }

    static func remove(_ path: String) { _ = unlink(path) }

    /// Returns the paths of the files of transfers in a folder.
    static func all(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var paths: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(suffix) { paths.append("\(folder)/\(name)") }
        }
        return paths
    }

    /// Returns a body that reads the file in chunks and removes it at the end, or with the last reference.
    static func body(_ path: String, name: String) throws(TransportError) -> ResponseBody {
        guard let file = RequestFile(path: path, count: 0).open() else {
            remove(path)
            throw TransportError(.other, "\(name): the received file cannot be read.", mayHaveBeenSent: true)
        }
        let reader = Reader(file, path, name)
        return ResponseBody { reader.next() }
    }

    private static func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
            Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Glibc)
            Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #else
            Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    private final class Reader: Sendable {
        private let file: any OpenContent
        private let path: String
        private let name: String

        init(_ file: any OpenContent, _ path: String, _ name: String) {
            (self.file, self.path, self.name) = (file, path, name)
        }

        deinit { BackgroundFile.remove(path) }

        func next() -> Result<[UInt8]?, TransportError> {
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            guard let count = bytes.withUnsafeMutableBytes({ file.read(into: $0) }) else {
                let sentence = "\(name): the received file cannot be read."
                return .failure(TransportError(.other, sentence, mayHaveBeenSent: true))
            }
            return .success(count == 0 ? nil : Array(bytes.prefix(count)))
        }
    }
}
