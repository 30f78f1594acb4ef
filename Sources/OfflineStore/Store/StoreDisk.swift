package import OperationLog

/// The disk of a store.
package enum StoreDisk: Sendable {
    case system
    /// A simulated file system for the log. The views are in memory, because SQLite supports only files of the system,
    /// unless the simulation provides a disk for SQLite.
    case simulated(any FileSystem, views: SimulatedViews? = nil)

    var isSystem: Bool { if case .system = self { true } else { false } }

    var fileSystem: any FileSystem {
        switch self {
        case .system: PosixFileSystem()
        case .simulated(let fileSystem, _): fileSystem
        }
    }

    /// Removes files. Ignores missing files.
    func remove(_ paths: [String]) {
        switch self {
        case .system: StoreDirectory.remove(paths)
        case .simulated(let fileSystem, _): for path in paths { try? fileSystem.remove(path) }
        }
    }

    // MARK: Views

    /// Returns the path at which SQLite opens the views; nil if they are in memory.
    func viewsPath(_ files: StoreFiles) -> String? {
        switch self {
        case .system: files.views
        case .simulated(_, let views): views.map { $0.root + files.views }
        }
    }

    /// The identifier of the machine's current boot; nil if the system has none, or if the views are in memory.
    var boot: String? {
        switch self {
        case .system: SystemBoot.identifier
        case .simulated(_, let views): views?.boot
        }
    }

    func removeViews(_ files: StoreFiles) {
        guard case .simulated(_, let views?) = self else { return remove(files.viewFiles) }
        for path in files.viewFiles { try? views.fileSystem.remove(path) }
    }
}

/// The simulated disk with the files of the views.
package struct SimulatedViews: Sendable {
    package let fileSystem: any FileSystem
    /// The prefix under which SQLite finds the files of the file system: `root` followed by a path.
    package let root: String
    /// The identifier of the simulated machine's current boot.
    package let boot: String

    package init(_ fileSystem: any FileSystem, root: String, boot: String) {
        self.fileSystem = fileSystem
        self.root = root
        self.boot = boot
    }
}
