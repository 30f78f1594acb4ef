#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// The directory of a store on disk.
enum StoreDirectory {
    static func create(_ files: StoreFiles) throws(TidelogError) {
        var path = ""
        for part in files.directory.split(separator: "/", omittingEmptySubsequences: false) {
            path += path.isEmpty && part.isEmpty ? "/" : (path.isEmpty || path == "/" ? String(part) : "/\(part)")
            if path.isEmpty || path == "/" { continue }
            if mkdir(path, 0o755) != 0, errno != EEXIST {
                throw TidelogError(
                    .storage, "The directory cannot be made: \(String(cString: strerror(errno))).", place: path,
                    recovery: "Choose another directory, or mend its permissions.")
            }
        }
    }

    static func remove(_ paths: [String]) { for path in paths { unlink(path) } }

    /// What is in a folder; empty where it is none.
    static func names(_ path: String) -> [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.filter { $0 != "." && $0 != ".." }
    }

    /// The folder and the files in it; folders in it stay, and it with them.
    static func removeFolder(_ path: String) {
        for name in names(path) { unlink(path + "/" + name) }
        rmdir(path)
    }

    /// Leaves the folder where something is in it.
    static func removeEmptyFolder(_ path: String) { rmdir(path) }

    /// Gives a folder its name, durably.
    static func move(_ path: String, to target: String) throws(TidelogError) {
        guard rename(path, target) == 0 else { throw failure(target) }
        try syncParent(of: target)
    }

    /// Makes the name of a file or folder durable.
    static func syncParent(of path: String) throws(TidelogError) {
        let slash = path.lastIndex(of: "/")
        let name = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let parent = open(name, O_RDONLY | O_DIRECTORY)
        guard parent >= 0 else { throw failure(path) }
        defer { close(parent) }
        guard fsync(parent) == 0 else { throw failure(path) }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Replaces the file as a whole or not at all.
    static func write(_ bytes: [UInt8], to path: String) throws(TidelogError) {
        let temporary = path + ".new"
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
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

    static func read(_ path: String, limit: Int = 1 << 20) -> [UInt8]? {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < limit {
            let length = bytes.withUnsafeMutableBytes {
                pread(file, $0.baseAddress! + count, limit - count, off_t(count))
            }
            guard length > 0 else { break }
            count += length
        }
        return Array(bytes[..<count])
    }

    private static func failure(_ path: String) -> TidelogError {
        TidelogError(
            .storage, "The file cannot be written: \(String(cString: strerror(errno))).", place: path,
            recovery: "Check space and permissions.")
    }
}
