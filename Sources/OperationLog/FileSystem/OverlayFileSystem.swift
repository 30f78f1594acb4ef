import Synchronization

/// Another file system as it is, and in memory what is changed of it.
///
/// Of the one below only ``FileSystem/open(_:_:)`` for reading and ``FileSystem/list(_:)`` are called. So whatever works on
/// an overlay, a log that is appended to included, leaves the files as they are; when the overlay goes, so do the changes.
/// A file that grows below is seen to grow as long as it is not changed here.
public final class OverlayFileSystem: FileSystem {
    private let below: any FileSystem
    /// What differs from below, by path.
    private let changes = Mutex<[String: Change]>([:])

    private enum Change {
        case removed
        /// Where the bytes that are not changed are, nil for a file that was made here; and those that are.
        case file(source: String?, OverlayChange)
    }

    public init(_ below: any FileSystem = PosixFileSystem()) { self.below = below }

    public func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File {
        switch (try change(of: path, mode), mode) {
        case (.removed?, .create), (nil, .create):
            let change = OverlayChange(size: 0)
            changes.withLock { $0[path] = .file(source: nil, change) }
            return OverlayFile(nil, change)
        case (.file, .create):
            throw FileSystemError(call: "open", path: path, errorNumber: 17, message: "File exists")
        case (.file(let source, let change)?, _):
            return OverlayFile(try opened(source), change)
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
            guard error.isNotFound, !changes.isEmpty else { throw error }
        }
        for (path, change) in changes {
            let name = String(path.dropFirst(prefix.count))
            switch change {
            case .removed: names.remove(name)
            // As long as it has its name from below, that is there, or is removed below.
            case .file(let source, _) where source != path && !name.contains("/"): names.insert(name)
            case .file: break
            }
        }
        return Array(names)
    }

    /// Nothing to do: a directory is there as soon as a file in it is.
    public func createDirectory(_ path: String) throws(FileSystemError) {}

    public func rename(_ path: String, to target: String) throws(FileSystemError) {
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

/// What is changed of a file: its bytes from some offset on.
private final class OverlayChange: Sendable {
    struct Tail {
        /// Bytes in front of it are below.
        var start: UInt64
        var bytes: [UInt8] = []

        var end: UInt64 { start + UInt64(bytes.count) }
    }

    /// Nil as long as all is below.
    let tail: Mutex<Tail?>

    init(size: UInt64? = nil) { tail = Mutex(size.map { Tail(start: $0) }) }
}

/// One who has the file open. What the others change is seen.
private final class OverlayFile: File {
    private let source: (any File)?
    private let change: OverlayChange

    init(_ source: (any File)?, _ change: OverlayChange) {
        self.source = source
        self.change = change
    }

    private func sourceSize() throws(FileSystemError) -> UInt64 {
        guard let source else { return 0 }
        return try source.size()
    }

    private func tail() -> OverlayChange.Tail? { change.tail.withLock { $0 } }

    func size() throws(FileSystemError) -> UInt64 {
        if let tail = tail() { return tail.end }
        return try sourceSize()
    }

    func read(at offset: UInt64, count: Int) throws(FileSystemError) -> [UInt8] {
        guard let tail = tail() else {
            guard let source else { return [] }
            return try source.read(at: offset, count: count)
        }
        var bytes: [UInt8] = []
        if offset < tail.start, let source {
            bytes = try source.read(at: offset, count: Int(min(UInt64(count), tail.start - offset)))
        }
        let from = offset + UInt64(bytes.count)
        guard bytes.count < count, from >= tail.start, from < tail.end else { return bytes }
        let start = Int(from - tail.start)
        bytes += tail.bytes[start..<min(start + count - bytes.count, tail.bytes.count)]
        return bytes
    }

    func write(_ source: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        try edit(from: offset) { tail in
            let start = Int(offset - tail.start)
            let missing = start + source.count - tail.bytes.count
            if missing > 0 { tail.bytes.append(contentsOf: repeatElement(0, count: missing)) }
            tail.bytes.replaceSubrange(start..<start + source.count, with: source)
        }
    }

    func sync() throws(FileSystemError) {}

    func truncate(to size: UInt64) throws(FileSystemError) {
        try edit(from: size) { tail in
            let kept = Int(size - tail.start)
            let missing = kept - tail.bytes.count
            if missing > 0 { tail.bytes.append(contentsOf: repeatElement(0, count: missing)) }
            tail.bytes.removeLast(tail.bytes.count - kept)
        }
    }

    func close() { source?.close() }

    /// Changes the bytes from the offset on, which come up from below before that where they are there.
    private func edit(from offset: UInt64, _ body: (inout OverlayChange.Tail) -> Void) throws(FileSystemError) {
        let start: UInt64
        if let known = change.tail.withLock({ $0?.start }) { start = known } else { start = try sourceSize() }
        var raised: [UInt8] = []
        if offset < start, let source { raised = try source.read(at: offset, count: Int(start - offset)) }
        change.tail.withLock { kept in
            var tail = kept ?? .init(start: start)
            // Or else the bytes would be copied each time.
            kept = nil
            if offset < start { tail = .init(start: offset, bytes: raised + tail.bytes) }
            body(&tail)
            kept = tail
        }
    }
}
