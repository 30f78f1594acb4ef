import OperationLog

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Operations on the directory of a store.
enum StoreDirectory {
    static func create(_ files: StoreFiles) throws(TidelogError) {
        var path = ""
        for part in files.directory.split(separator: "/", omittingEmptySubsequences: false) {
            path += path.isEmpty && part.isEmpty ? "/" : (path.isEmpty || path == "/" ? String(part) : "/\(part)")
            if path.isEmpty || path == "/" { continue }
            if mkdir(path, 0o700) != 0, errno != EEXIST {
                throw TidelogError(
                    .storage, "The directory cannot be created: \(String(cString: strerror(errno))).", place: path,
                    recovery: "Choose another directory, or correct the permissions.")
            }
        }
    }

    /// Refuses a store in which a file is not a regular file, or a directory is not a directory. It follows, opens and
    /// writes nothing.
    ///
    /// The store's own directory may be a symbolic link, since its user names it.
    static func check(_ files: StoreFiles) throws(TidelogError) {
        let regular = [files.lock, files.description, temporary(files.description)] + files.viewFiles + files.proof
        for path in regular { try check(path, is: .regular) }
        for path in [files.log, files.streams] { try check(path, is: .directory) }
    }

    static func check(_ path: String, is expected: FileKind) throws(TidelogError) {
        guard let kind = FileKind.of(path), kind != expected else { return }
        throw TidelogError(
            .storage, "It is \(kind), not \(expected); nothing was read from it or written to it.", place: path,
            recovery: "Find out which program created it, and move it away.")
    }

    static func remove(_ paths: [String]) { for path in paths { unlink(path) } }

    /// Returns the names in a directory, or none if it is no directory or a symbolic link.
    static func names(_ path: String) -> [String] {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { return [] }
        guard let stream = fdopendir(folder) else {
            close(folder)
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.filter { $0 != "." && $0 != ".." }
    }

    /// Removes the directory with its files. If it contains directories, these are kept, and so is it.
    static func removeFolder(_ path: String) {
        for name in names(path) { unlink(path + "/" + name) }
        rmdir(path)
    }

    /// Removes the directory if it is empty.
    static func removeEmptyFolder(_ path: String) { rmdir(path) }

    /// Renames a directory durably.
    static func move(_ path: String, to target: String) throws(TidelogError) {
        guard rename(path, target) == 0 else { throw failure(target) }
        try syncParent(of: target)
    }

    /// Makes the name of a file or directory durable.
    static func syncParent(of path: String) throws(TidelogError) {
        let slash = path.lastIndex(of: "/")
        let name = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let parent = open(name, O_RDONLY | O_DIRECTORY)
        guard parent >= 0 else { throw failure(path) }
        defer { close(parent) }
        guard fsync(parent) == 0 else { throw failure(path) }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Replaces the file atomically.
    static func write(_ bytes: [UInt8], to path: String) throws(TidelogError) {
        let temporary = temporary(path)
        for path in [path, temporary] { try check(path, is: .regular) }
        // The remains of an earlier attempt. The file is created anew, so that it is never written through another
        // link.
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(path) }
        var offset = 0
        while offset < bytes.count {
            let written = bytes.withUnsafeBytes {
                pwrite(file, $0.baseAddress! + offset, bytes.count - offset, off_t(offset))
            }
            guard written > 0 else {
                close(file)
                throw failure(path)
            }
            offset += written
        }
        let synced = fsync(file)
        close(file)
        guard synced == 0, rename(temporary, path) == 0 else { throw failure(path) }
        try syncParent(of: path)
    }

    private static func temporary(_ path: String) -> String { path + ".new" }

    /// Returns the file's bytes up to the limit, or nil if it does not exist.
    ///
    /// - Throws: `storage` if it is no regular file, or cannot be read.
    static func read(_ path: String, limit: Int = 1 << 20) throws(TidelogError) -> [UInt8]? {
        do throws(FileSystemError) {
            let file = try PosixFileSystem().open(path, .read)
            defer { file.close() }
            return try file.read(at: 0, count: limit)
        } catch {
            if error.isNotFound { return nil }
            throw TidelogError(.storage, "The file cannot be read: \(error)", place: path, cause: error)
        }
    }

    private static func failure(_ path: String) -> TidelogError {
        TidelogError(
            .storage, "The file cannot be written: \(String(cString: strerror(errno))).", place: path,
            recovery: "Check the free space and the permissions.")
    }
}
