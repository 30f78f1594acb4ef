/// Files in memory, which disappear with the object. For stores that leave no trace on the disk.
package final class MemoryFileSystem: FileSystem {
    // An overlay over a file system without files has only files in memory.
    private let files = OverlayFileSystem(EmptyFileSystem())

    package init() {}

    package func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File {
        try files.open(path, mode)
    }

    package func list(_ directory: String) throws(FileSystemError) -> [String] { try files.list(directory) }

    package func createDirectory(_ path: String) throws(FileSystemError) { try files.createDirectory(path) }

    package func rename(_ path: String, to target: String) throws(FileSystemError) {
        try files.rename(path, to: target)
    }

    package func remove(_ path: String) throws(FileSystemError) { try files.remove(path) }

    package func syncDirectory(_ path: String) throws(FileSystemError) {}

    /// Always acquires the lock, because no other process has access to the files.
    package func lock(_ path: String) throws(FileSystemError) -> LockOutcome { try files.lock(path) }
}

/// A file system without files, which cannot be changed.
private struct EmptyFileSystem: FileSystem {
    func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File { throw missing("open", path) }
    func list(_ directory: String) throws(FileSystemError) -> [String] { throw missing("opendir", directory) }
    func createDirectory(_ path: String) throws(FileSystemError) { throw missing("mkdir", path) }
    func rename(_ path: String, to target: String) throws(FileSystemError) { throw missing("rename", path) }
    func remove(_ path: String) throws(FileSystemError) { throw missing("unlink", path) }
    func syncDirectory(_ path: String) throws(FileSystemError) {}
    func lock(_ path: String) throws(FileSystemError) -> LockOutcome { throw missing("open", path) }

    private func missing(_ call: String, _ path: String) -> FileSystemError {
        FileSystemError(call: call, path: path, errorNumber: 2, isNotFound: true, message: "No such file or directory")
    }
}
