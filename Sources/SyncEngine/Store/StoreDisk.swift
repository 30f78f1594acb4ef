package import OperationLog

/// The disk that a store is on.
package enum StoreDisk: Sendable {
    case system
    /// The log goes through this file system, and the views are in memory: SQLite knows the system's files only.
    case simulated(any FileSystem)

    var isSystem: Bool { if case .system = self { true } else { false } }

    var fileSystem: any FileSystem {
        switch self {
        case .system: PosixFileSystem()
        case .simulated(let fileSystem): fileSystem
        }
    }

    /// Those that are not there are no error.
    func remove(_ paths: [String]) {
        switch self {
        case .system: StoreDirectory.remove(paths)
        case .simulated(let fileSystem): for path in paths { try? fileSystem.remove(path) }
        }
    }
}
