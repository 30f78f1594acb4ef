import Synchronization

/// Another file system as it is, and in memory the files that are changed.
///
/// Of the one below only ``FileSystem/open(_:_:)`` for reading and ``FileSystem/list(_:)`` are called. So whatever works on
/// an overlay, a log that is appended to included, leaves the files as they are; when the overlay goes, so do the changes.
/// A file that grows below is seen to grow as long as it is not changed here.
public final class OverlayFileSystem: FileSystem {
    private let below: any FileSystem
    /// What differs from below, by path.
    private let changes = Mutex<[String: Change]>([:])
    /// Directories that may be empty.
    private let made = Mutex<Set<String>>([])

    private enum Change {
        case removed
        /// Where the bytes are as long as they are not changed, nil for a file that was made here; and what they are then.
        case file(source: String?, OverlayChange)
    }

    public init(_ below: any FileSystem = PosixFileSystem()) { self.below = below }

    public func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File {
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

    /// What the path is, noted for a file that others may change from now on; nil where a new file may come into being.
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

    public func list(_ directory: String) throws(FileSystemError) -> [String] {
        let prefix = directory + "/"
        let changes = changes.withLock { $0 }.filter { $0.key.hasPrefix(prefix) }
        var names: Set<String> = []
        do {
            names = Set(try below.list(directory))
        } catch {
            guard error.isNotFound, !changes.isEmpty || made.withLock({ $0.contains(directory) }) else { throw error }
        }
        for (path, change) in changes {
            let name = String(path.dropFirst(prefix.count))
            switch change {
            case .removed: names.remove(name)
            // One that is as below goes when it is removed there.
            case .file(let source, let change) where source != path || change.isChanged:
                if !name.contains("/") { names.insert(name) }
            case .file: break
            }
        }
        return Array(names)
    }

    /// Only noted: a directory is there as soon as a file in it is.
    public func createDirectory(_ path: String) throws(FileSystemError) { made.withLock { _ = $0.insert(path) } }

    public func rename(_ path: String, to target: String) throws(FileSystemError) {
        let files = (try? list(path)) ?? []
        guard files.isEmpty else {
            // A directory is nothing but the names of its files.
            for name in files { try rename("\(path)/\(name)", to: "\(target)/\(name)") }
            return
        }
        guard case .file(let source, let change)? = try change(of: path) else { throw Self.missing("rename", path) }
        changes.withLock { changes in
            changes[target] = .file(source: source, change)
            changes[path] = .removed
        }
    }

    public func remove(_ path: String) throws(FileSystemError) {
        guard case .file? = try change(of: path) else { throw Self.missing("unlink", path) }
        changes.withLock { $0[path] = .removed }
    }

    public func syncDirectory(_ path: String) throws(FileSystemError) {}

    /// Nobody else can change what is here.
    public func lock(_ path: String) throws(FileSystemError) -> LockOutcome { .taken(OverlayLock()) }

    private static func missing(_ call: String, _ path: String) -> FileSystemError {
        FileSystemError(call: call, path: path, errorNumber: 2, isNotFound: true, message: "No such file or directory")
    }

    private final class OverlayLock: FileLock, Sendable {
        func release() {}
    }
}

/// What a file is here: all of its bytes once one of them is changed, for the file below may be rewritten or removed.
private final class OverlayChange: Sendable {
    /// Nil as long as all is as below.
    let bytes: Mutex<[UInt8]?>

    init(_ bytes: [UInt8]? = nil) { self.bytes = Mutex(bytes) }

    var isChanged: Bool { bytes.withLock { $0 != nil } }
}

/// One who has the file open. What the others change is seen.
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
            // Or else they would be copied each time.
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
