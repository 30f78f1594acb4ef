import Synchronization

/// A view of a file system that keeps all modifications in memory.
///
/// Only ``FileSystem/open(_:_:)`` for reading and ``FileSystem/list(_:)`` are called on the underlying file system.
/// Code that works on an overlay, such as a log that is appended to, therefore leaves the files unchanged, and the
/// changes are discarded with the overlay. If an underlying file grows, the overlay shows the growth until the file is
/// changed here.
package final class OverlayFileSystem: FileSystem {
    private let below: any FileSystem
    /// The differences from the underlying file system, by path.
    private let changes = Mutex<[String: Change]>([:])

    /// Directories that were created here. They exist even while they are empty.
    private let directories = Mutex<Set<String>>([])

    private enum Change {
        case removed
        /// A file: the path of its underlying bytes, which is nil for a file that was created here, and its changed
        /// content.
        case file(source: String?, OverlayChange)
    }

    package init(_ below: any FileSystem = PosixFileSystem()) { self.below = below }

    package func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File {
        switch (try change(of: path, mode), mode) {
        case (.removed?, .create), (nil, .create):
            let change = OverlayChange([])
            changes.withLock { $0[path] = .file(source: nil, change) }
            return OverlayFile(nil, change)
        case (.file, .create):
            throw FileSystemError(call: "open", path: path, errorNumber: 17, message: "File exists")
        case (.file(let source, let change)?, _):
            return OverlayFile(change.isChanged ? nil : try opened(source), change)
        case (.removed?, _), (nil, _): throw Self.missing("open", path)
        }
    }

    private func opened(_ source: String?) throws(FileSystemError) -> (any File)? {
        guard let source else { return nil }
        return try below.open(source, .read)
    }

    /// Returns the state of the path, and registers an underlying file so that all users of it share later changes.
    ///
    /// Returns nil if a new file may be created.
    private func change(of path: String, _ mode: FileMode = .read) throws(FileSystemError) -> Change? {
        if let known = changes.withLock({ $0[path] }) { return known }
        do {
            try below.open(path, .read).close()
        } catch {
            guard error.isNotFound, mode == .create else { throw error }
            return nil
        }
        let change = Change.file(source: path, OverlayChange())
        return changes.withLock { changes in
            if let known = changes[path] { return known }
            changes[path] = change
            return change
        }
    }

    package func list(_ directory: String) throws(FileSystemError) -> [String] {
        let prefix = directory + "/"
        let changes = changes.withLock { $0 }.filter { $0.key.hasPrefix(prefix) }
        var names: Set<String> = []
        do {
            names = Set(try below.list(directory))
        } catch {
            let isMade = directories.withLock { $0.contains(directory) }
            guard error.isNotFound, isMade || !changes.isEmpty else { throw error }
        }
        for (path, change) in changes {
            let name = String(path.dropFirst(prefix.count))
            switch change {
            case .removed: names.remove(name)
            // An unchanged file disappears when it is removed from the underlying file system.
            case .file(let source, let change) where source != path || change.isChanged:
                if !name.contains("/") { names.insert(name) }
            case .file: break
            }
        }
        return Array(names)
    }

    /// Creates a directory. A directory also exists as soon as a file in it does.
    package func createDirectory(_ path: String) throws(FileSystemError) {
        _ = directories.withLock { $0.insert(path) }
    }

    package func rename(_ path: String, to target: String) throws(FileSystemError) {
        let files = (try? list(path)) ?? []
        guard files.isEmpty else {
            // A directory exists only through the names of its files.
            for name in files { try rename("\(path)/\(name)", to: "\(target)/\(name)") }
            _ = directories.withLock { $0.remove(path) }
            return
        }
        guard case .file(let source, let change)? = try change(of: path) else { throw Self.missing("rename", path) }
        changes.withLock { changes in
            changes[target] = .file(source: source, change)
            changes[path] = .removed
        }
    }

    package func remove(_ path: String) throws(FileSystemError) {
        guard case .file? = try change(of: path) else { throw Self.missing("unlink", path) }
        changes.withLock { $0[path] = .removed }
    }

    package func syncDirectory(_ path: String) throws(FileSystemError) {}

    /// Always acquires the lock, because no other process can change the overlay.
    package func lock(_ path: String) throws(FileSystemError) -> LockOutcome { .taken(OverlayLock()) }

    private static func missing(_ call: String, _ path: String) -> FileSystemError {
        FileSystemError(call: call, path: path, errorNumber: 2, isNotFound: true, message: "No such file or directory")
    }

    private final class OverlayLock: FileLock, Sendable {
        func release() {}
    }
}

/// The content of a file in the overlay.
///
/// All bytes are copied at the first change, because the underlying file may be rewritten or removed.
private final class OverlayChange: Sendable {
    /// The changed bytes, or nil if the file is unchanged.
    let bytes: Mutex<[UInt8]?>

    init(_ bytes: [UInt8]? = nil) { self.bytes = Mutex(bytes) }

    var isChanged: Bool { bytes.withLock { $0 != nil } }
}

/// An open file. Changes made through other open files of the same path are visible.
private final class OverlayFile: File {
    private let source: (any File)?
    private let change: OverlayChange

    init(_ source: (any File)?, _ change: OverlayChange) {
        self.source = source
        self.change = change
    }

    func size() throws(FileSystemError) -> UInt64 {
        if let count = change.bytes.withLock({ $0?.count }) { return UInt64(count) }
        guard let source else { return 0 }
        return try source.size()
    }

    func read(at offset: UInt64, count: Int) throws(FileSystemError) -> [UInt8] {
        let changed = change.bytes.withLock { bytes -> [UInt8]? in
            guard let bytes else { return nil }
            let start = Int(min(offset, UInt64(bytes.count)))
            return Array(bytes[start..<start + min(count, bytes.count - start)])
        }
        if let changed { return changed }
        guard let source else { return [] }
        return try source.read(at: offset, count: count)
    }

    func write(_ source: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        try edit { bytes in
            let start = Int(offset)
            bytes.lengthen(to: start + source.count)
            bytes.replaceSubrange(start..<start + source.count, with: source)
        }
    }

    func sync() throws(FileSystemError) {}

    func truncate(to size: UInt64) throws(FileSystemError) {
        try edit { bytes in
            bytes.lengthen(to: Int(size))
            bytes.removeLast(bytes.count - Int(size))
        }
    }

    func close() { source?.close() }

    private func edit(_ body: (inout [UInt8]) -> Void) throws(FileSystemError) {
        var below: [UInt8] = []
        if let source, change.bytes.withLock({ $0 == nil }) {
            below = try source.read(at: 0, count: Int(try source.size()))
        }
        change.bytes.withLock { kept in
            var bytes = kept ?? below
            // Without this, the array would be copied each time.
            kept = nil
            body(&bytes)
            kept = bytes
        }
    }
}

extension [UInt8] {
    fileprivate mutating func lengthen(to count: Int) {
        if count > self.count { append(contentsOf: repeatElement(0, count: count - self.count)) }
    }
}
