#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A directory of its own in the system's place for them.
struct TemporaryDirectory {
    let path: String

    init() {
        var template = Array("/tmp/operation-log-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { fatalError("mkdtemp failed: errno \(errno)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Two levels are all that a store has.
    func remove() {
        for directory in [path + "/log", path] {
            guard let stream = opendir(directory) else { continue }
            while let entry = readdir(stream) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                unlink(directory + "/" + name)
            }
            closedir(stream)
            rmdir(directory)
        }
    }
}
