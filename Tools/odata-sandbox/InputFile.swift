#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Reads the files that options name.
enum InputFile {
    static func read(_ path: String) throws(Failure) -> [UInt8] {
        guard let file = fopen(path, "r") else {
            throw Failure("\(path) cannot be read: \(String(cString: strerror(errno))). Check the path.")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
        if ferror(file) != 0 {
            throw Failure("\(path) cannot be read: \(String(cString: strerror(errno))). Name a file.")
        }
        return bytes
    }
}
