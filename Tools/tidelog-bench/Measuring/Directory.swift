internal import CBench
internal import Foundation

/// A directory to which measurements write. Removed with its content.
struct Directory: Sendable {
    let path: String

    /// Creates a new directory in `parent`.
    static func make(below parent: String) throws -> Directory {
        let path = parent + "/tidelog-bench-\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return Directory(path: path)
    }

    /// Returns an unused path in the directory. Removes a file or directory of an earlier round.
    func fresh(_ name: String) throws -> String {
        let path = path + "/" + name
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        return path
    }

    /// Creates a directory if it does not exist.
    static func create(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the size of the file at `path`, or the total size of the files in the directory.
    static func bytes(at path: String, where isCounted: (String) -> Bool = { _ in true }) throws -> UInt64 {
        let files = FileManager.default
        var isDirectory: ObjCBool = false
        guard files.fileExists(atPath: path, isDirectory: &isDirectory) else { return 0 }
        guard isDirectory.boolValue else {
            return (try files.attributesOfItem(atPath: path)[.size] as? NSNumber)?.uint64Value ?? 0
        }
        return try files.contentsOfDirectory(atPath: path).filter(isCounted).reduce(0) {
            try $0 + bytes(at: path + "/" + $1)
        }
    }

    /// A note about the file system: durable commits have no meaning if it is not durable.
    var remark: String {
        let name = String(cString: bench_file_system(path))
        return bench_is_in_memory(path) == 0
            ? "Measured on a file system of the type \(name)."
            : "Measured on \(name), which is in memory, so durable commits are not meaningful. Name a directory on a disk with --directory."
    }
}
