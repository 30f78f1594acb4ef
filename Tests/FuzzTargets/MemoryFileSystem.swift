import OperationLog
import Synchronization

/// A file system in memory, without the faults of a disk.
final class MemoryFileSystem: FileSystem {
    private let files: Mutex<[String: MemoryFile]> = Mutex([:])

    subscript(path: String) -> [UInt8]? {
        get { files.withLock { $0[path]?.bytes } }
        set {
            let file = newValue.map { MemoryFile($0) }
            files.withLock { $0[path] = file }
        }
    }

    var content: [String: [UInt8]] { files.withLock { $0.mapValues(\.bytes) } }

    func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File {
        let file = files.withLock { files -> MemoryFile? in
            guard mode == .create else { return files[path] }
            guard files[path] == nil else { return nil }
            let made = MemoryFile([])
            files[path] = made
            return made
        }
        guard let file else {
            throw FileSystemError(
                call: "open", path: path, errorNumber: mode == .create ? 17 : 2, isNotFound: mode != .create,
                message: "in memory")
        }
        return file
    }

    func list(_ directory: String) throws(FileSystemError) -> [String] {
        files.withLock { files in
            files.keys.filter { $0.hasPrefix(directory + "/") }.map { String($0.dropFirst(directory.count + 1)) }
        }
    }

    func createDirectory(_ path: String) throws(FileSystemError) {}

    func rename(_ path: String, to target: String) throws(FileSystemError) {
        files.withLock { $0[target] = $0.removeValue(forKey: path) }
    }

    func remove(_ path: String) throws(FileSystemError) {
        files.withLock { $0[path] = nil }
    }

    func syncDirectory(_ path: String) throws(FileSystemError) {}

    func lock(_ path: String) throws(FileSystemError) -> LockOutcome { .taken(NoLock()) }

    private final class NoLock: FileLock, Sendable {
        func release() {}
    }
}

private final class MemoryFile: File, Sendable {
    private let content: Mutex<[UInt8]>

    init(_ bytes: [UInt8]) { content = Mutex(bytes) }

    var bytes: [UInt8] { content.withLock { $0 } }

    func size() throws(FileSystemError) -> UInt64 { UInt64(bytes.count) }

    func read(at offset: UInt64, count: Int) throws(FileSystemError) -> [UInt8] {
        content.withLock { bytes in
            let start = Int(min(offset, UInt64(bytes.count)))
            return Array(bytes[start..<start + min(count, bytes.count - start)])
        }
    }

    func write(_ source: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        let source = Array(source)
        content.withLock { bytes in
            let missing = Int(offset) + source.count - bytes.count
            if missing > 0 { bytes.append(contentsOf: repeatElement(0, count: missing)) }
            bytes.replaceSubrange(Int(offset)..<Int(offset) + source.count, with: source)
        }
    }

    func sync() throws(FileSystemError) {}

    func truncate(to size: UInt64) throws(FileSystemError) {
        content.withLock { bytes in
            if size < UInt64(bytes.count) { bytes.removeLast(bytes.count - Int(size)) }
        }
    }

    func close() {}
}
