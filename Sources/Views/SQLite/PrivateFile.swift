#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A file that only its owner may read, whatever the umask is.
enum PrivateFile {
    /// Makes an empty one if nothing has the name. SQLite takes it for a new database, and gives the files that it makes
    /// beside it the same permissions.
    static func make(_ path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if file >= 0 { close(file) }
    }
}
