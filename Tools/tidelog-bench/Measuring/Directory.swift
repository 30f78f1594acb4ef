internal import CBench
internal import Foundation

/// A directory that measurements write to. What they leave is removed with it.
struct Directory: Sendable {
    let path: String

    /// Makes a new one below `parent`.
    static func make(below parent: String) throws -> Directory {
        let path = parent + "/tidelog-bench-\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return Directory(path: path)
    }

    /// A path below it that nothing is at: what an earlier round left there is removed.
    func fresh(_ name: String) throws -> String {
        let path = path + "/" + name
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        return path
    }

    /// Makes a directory where there is none.
    static func create(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// The sum of the sizes of the files in a directory, or of the file, at `path`.
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

    /// What a person should know about the place: durable commits cost nothing where nothing is durable.
    var remark: String {
        let name = String(cString: bench_file_system(path))
        return bench_is_in_memory(path) == 0
            ? "Measured on a file system of the type \(name)."
            : "Measured on \(name), which is in memory: durable commits mean nothing there. Name a disk with --directory."
    }
}
