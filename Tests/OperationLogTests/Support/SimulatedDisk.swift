import OperationLog
import Synchronization

/// A disk in memory that keeps apart what programs see and what survives a loss of power, and that can stop, or
/// refuse, at any call that changes something.
///
/// What a crash may do to a file: each write since the last sync is there, absent, or there in pieces; where the file
/// grew, missing pieces are zeroes. Names since the last sync of their directory are there up to some point, in order.
/// What it may not do, as no journalling file system does: undo what was synced, or half of a rename.
final class SimulatedDisk: FileSystem {
    enum Fault: Equatable {
        /// The machine stops at this call; no later call does anything.
        case crash
        /// This call fails; a write leaves half of its bytes.
        case refuse
    }

    enum Change {
        case write(offset: Int, bytes: [UInt8])
        case truncate(size: Int)
    }

    struct Content {
        var live: [UInt8] = []
        var durable: [UInt8] = []
        var pending: [Change] = []
    }

    struct State {
        var contents: [Content] = []
        var names: [String: Int] = [:]
        var durableNames: [String: Int] = [:]
        /// Each is one step: all of its names change, or none.
        var pendingNames: [[String: Int?]] = []
        var directories: Set<String> = []
        var locked: Set<String> = []
        var calls = 0
        var syncs = 0
        var faultAt: Int?
        var fault = Fault.crash
        var hasCrashed = false
    }

    let state: Mutex<State>

    init(directories: Set<String> = ["/store"]) {
        state = Mutex(State(directories: directories))
    }

    private init(_ state: sending State) { self.state = Mutex(state) }

    /// Calls so far that change something or make it durable.
    var calls: Int { state.withLock { $0.calls } }
    var syncs: Int { state.withLock { $0.syncs } }

    func fail(atCall call: Int, _ fault: Fault) {
        state.withLock {
            $0.faultAt = call
            $0.fault = fault
        }
    }

    /// What the call may do: all, half before it fails, or nothing.
    fileprivate func begin(_ call: String, _ path: String, _ state: inout State) throws(FileSystemError) -> Fault? {
        if state.hasCrashed { throw .simulated(call, path) }
        defer { state.calls += 1 }
        guard state.calls == state.faultAt else { return nil }
        if state.fault == .crash { state.hasCrashed = true }
        return state.fault
    }

    // MARK: FileSystem

    func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File {
        try withState { state throws(FileSystemError) in
            if mode == .create {
                if state.names[path] != nil { throw .simulated("open", path, number: 17) }
                if try begin("open", path, &state) != nil { throw .simulated("open", path) }
                state.contents.append(Content())
                state.names[path] = state.contents.count - 1
                state.pendingNames.append([path: state.contents.count - 1])
            }
            guard let index = state.names[path] else { throw .notFound(path) }
            return SimulatedFile(disk: self, index: index, path: path)
        }
    }

    func list(_ directory: String) throws(FileSystemError) -> [String] {
        try withState { state throws(FileSystemError) in
            if state.hasCrashed { throw .simulated("opendir", directory) }
            guard state.directories.contains(directory) else { throw .notFound(directory) }
            return state.names.keys.filter { $0.hasPrefix(directory + "/") }
                .map { String($0.dropFirst(directory.count + 1)) }
        }
    }

    func createDirectory(_ path: String) throws(FileSystemError) {
        try withState { state throws(FileSystemError) in
            if try begin("mkdir", path, &state) != nil { throw .simulated("mkdir", path) }
            state.directories.insert(path)
        }
    }

    func rename(_ path: String, to target: String) throws(FileSystemError) {
        try withState { state throws(FileSystemError) in
            if try begin("rename", path, &state) != nil { throw .simulated("rename", path) }
            guard let index = state.names.removeValue(forKey: path) else { throw .notFound(path) }
            state.names[target] = index
            state.pendingNames.append([path: nil, target: index])
        }
    }

    func remove(_ path: String) throws(FileSystemError) {
        try withState { state throws(FileSystemError) in
            if try begin("unlink", path, &state) != nil { throw .simulated("unlink", path) }
            guard state.names.removeValue(forKey: path) != nil else { throw .notFound(path) }
            state.pendingNames.append([path: nil])
        }
    }

    func syncDirectory(_ path: String) throws(FileSystemError) {
        try withState { state throws(FileSystemError) in
            if try begin("fsync", path, &state) != nil { throw .simulated("fsync", path) }
            state.syncs += 1
            state.durableNames = state.names
            state.pendingNames = []
        }
    }

    func lock(_ path: String) throws(FileSystemError) -> LockOutcome {
        let isFree = state.withLock { $0.locked.insert(path).inserted }
        return isFree ? .taken(SimulatedLock(disk: self, path: path)) : .heldByAnother(processID: 42)
    }

    fileprivate func withState<Value>(
        _ body: (inout State) throws(FileSystemError) -> sending Value
    ) throws(FileSystemError) -> sending Value {
        try state.withLock { state throws(FileSystemError) in try body(&state) }
    }

    // MARK: Bytes, for tests that change them behind the log's back

    subscript(path: String) -> [UInt8] {
        get { state.withLock { state in state.names[path].map { state.contents[$0].live } ?? [] } }
        set {
            state.withLock { state in
                var content = Content()
                content.live = newValue
                content.durable = newValue
                state.contents.append(content)
                state.names[path] = state.contents.count - 1
                state.durableNames[path] = state.contents.count - 1
            }
        }
    }

    var paths: [String] { state.withLock { $0.names.keys.sorted() } }

    func erase(_ path: String) {
        state.withLock {
            $0.names[path] = nil
            $0.durableNames[path] = nil
        }
    }

    /// The disk as it is now, in working order, with no lock held.
    func copy() -> SimulatedDisk {
        image { content in
            content.live
        } names: { state in
            state.names
        }
    }

    // MARK: After a crash

    /// Only what was synced.
    func withoutUnsynced() -> SimulatedDisk {
        image {
            $0.durable
        } names: {
            $0.durableNames
        }
    }

    /// The bytes of the last write that was not synced; nil where there is none.
    var lastUnsyncedWrite: Int? {
        state.withLock { state in
            for content in state.contents.reversed() {
                if case .write(_, let bytes)? = content.pending.last { return bytes.count }
            }
            return nil
        }
    }

    /// Everything, but of the last write of each file only so many bytes.
    func tearing(lastWriteTo kept: Int) -> SimulatedDisk {
        image { content in
            var bytes = content.durable
            for (index, change) in content.pending.enumerated() {
                if index == content.pending.count - 1, case .write(let offset, let data) = change {
                    bytes.apply(.write(offset: offset, bytes: Array(data.prefix(kept))))
                } else {
                    bytes.apply(change)
                }
            }
            return bytes
        } names: {
            $0.names
        }
    }

    /// Any of the images that the rules allow.
    func random(_ generator: inout some RandomNumberGenerator) -> SimulatedDisk {
        var draws = generator
        let result = image { content in
            var bytes = content.durable
            for change in content.pending {
                guard case .write(let offset, let data) = change else {
                    bytes.apply(change)
                    continue
                }
                var start = 0
                while start < data.count {
                    let end = min(data.count, start + Int.random(in: 1...512, using: &draws))
                    if Bool.random(using: &draws) {
                        bytes.apply(.write(offset: offset + start, bytes: Array(data[start..<end])))
                    }
                    start = end
                }
            }
            return bytes
        } names: { state in
            var names = state.durableNames
            for step in state.pendingNames.prefix(Int.random(in: 0...state.pendingNames.count, using: &draws)) {
                for (path, index) in step { names[path] = index }
            }
            return names
        }
        generator = draws
        return result
    }

    private func image(
        content: (Content) -> [UInt8], names: (State) -> [String: Int]
    ) -> SimulatedDisk {
        let old = state.withLock { $0 }
        var new = State(directories: old.directories)
        for each in old.contents {
            let bytes = content(each)
            new.contents.append(Content(live: bytes, durable: bytes))
        }
        new.names = names(old)
        new.durableNames = new.names
        return SimulatedDisk(new)
    }
}

private final class SimulatedLock: FileLock {
    let disk: SimulatedDisk
    let path: String
    var isHeld = true

    init(disk: SimulatedDisk, path: String) {
        self.disk = disk
        self.path = path
    }

    func release() {
        guard isHeld else { return }
        isHeld = false
        disk.state.withLock { _ = $0.locked.remove(path) }
    }

    deinit { release() }
}

private final class SimulatedFile: File {
    let disk: SimulatedDisk
    let index: Int
    let path: String

    init(disk: SimulatedDisk, index: Int, path: String) {
        self.disk = disk
        self.index = index
        self.path = path
    }

    func size() throws(FileSystemError) -> UInt64 {
        try disk.withState { state throws(FileSystemError) in
            if state.hasCrashed { throw .simulated("fstat", path) }
            return UInt64(state.contents[index].live.count)
        }
    }

    func read(at offset: UInt64, count: Int) throws(FileSystemError) -> [UInt8] {
        try disk.withState { state throws(FileSystemError) in
            if state.hasCrashed { throw .simulated("pread", path) }
            let live = state.contents[index].live
            guard offset < UInt64(live.count) else { return [] }
            return Array(live[Int(offset)..<min(live.count, Int(offset) + count)])
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        let bytes = Array(bytes)
        try disk.withState { state throws(FileSystemError) in
            let fault = try disk.begin("pwrite", path, &state)
            let kept = fault == .refuse ? Array(bytes.prefix(bytes.count / 2)) : bytes
            let change = SimulatedDisk.Change.write(offset: Int(offset), bytes: kept)
            state.contents[index].live.apply(change)
            state.contents[index].pending.append(change)
            if fault != nil { throw .simulated("pwrite", path) }
        }
    }

    func sync() throws(FileSystemError) {
        try disk.withState { state throws(FileSystemError) in
            if try disk.begin("fdatasync", path, &state) != nil { throw .simulated("fdatasync", path) }
            state.syncs += 1
            state.contents[index].durable = state.contents[index].live
            state.contents[index].pending = []
        }
    }

    func truncate(to size: UInt64) throws(FileSystemError) {
        try disk.withState { state throws(FileSystemError) in
            if try disk.begin("ftruncate", path, &state) != nil { throw .simulated("ftruncate", path) }
            let change = SimulatedDisk.Change.truncate(size: Int(size))
            state.contents[index].live.apply(change)
            state.contents[index].pending.append(change)
        }
    }

    func close() {}
}

extension [UInt8] {
    fileprivate mutating func apply(_ change: SimulatedDisk.Change) {
        switch change {
        case .write(let offset, let bytes):
            guard !bytes.isEmpty else { return }
            if count < offset + bytes.count {
                append(contentsOf: repeatElement(0, count: offset + bytes.count - count))
            }
            replaceSubrange(offset..<offset + bytes.count, with: bytes)
        case .truncate(let size):
            if size < count { removeLast(count - size) }
        }
    }
}

extension FileSystemError {
    fileprivate static func simulated(_ call: String, _ path: String, number: Int32 = 5) -> FileSystemError {
        FileSystemError(call: call, path: path, errorNumber: number, message: "simulated")
    }

    fileprivate static func notFound(_ path: String) -> FileSystemError {
        FileSystemError(call: "open", path: path, errorNumber: 2, isNotFound: true, message: "simulated")
    }
}
