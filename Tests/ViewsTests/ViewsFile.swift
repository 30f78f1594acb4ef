import Views

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A file of its own, removed with the test.
final class ViewsFile {
    let path: String

    init() {
        var template = Array("/tmp/tidelog-views-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        precondition(file >= 0, "mkstemp failed")
        close(file)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        unlink(path)
    }

    deinit { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }

    func open() throws -> SQLiteState { try SQLiteState(path: path, store: "test") }
}
