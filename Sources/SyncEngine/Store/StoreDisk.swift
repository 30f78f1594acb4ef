package import OperationLog

/// The disk of a store.
package enum StoreDisk: Sendable {
    case system
    /// A simulated file system for the log, with the views in memory, because SQLite supports only files of the system.
    case simulated(any FileSystem)

    var isSystem: Bool { if case .system = self { true } else { false } }

    var fileSystem: any FileSystem {
        switch self {
        case .system: PosixFileSystem()
        case .simulated(let fileSystem): fileSystem
        }
    }

    /// Removes files. Missing ones are no error.
    func remove(_ paths: [String]) {
        switch self {
        case .system: StoreDirectory.remove(paths)
        case .simulated(let fileSystem): for path in paths { try? fileSystem.remove(path) }
        }
    }
}
