#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A file that only its owner can read, regardless of the umask.
enum PrivateFile {
    /// Creates an empty file if the path does not exist. SQLite treats it as a new database, and creates the files next
    /// to it with the same permissions.
    static func make(_ path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if file >= 0 { close(file) }
    }
}
