package import OperationLog
import Synchronization

/// A disk in memory that keeps apart what programs see and what survives a loss of power, and that can stop, or
/// refuse, at any call. Any number of threads may use it.
///
/// What a crash may do to a file: each sector of each write since the last sync is there or absent, whatever became of
/// the others; where the file grew, absent bytes are zeroes, or the file did not grow. Names since the last sync of
/// their directory are there up to some point, in order. What it may not do, as no journalling file system does: undo
/// what was synced, or half of a rename.
///
/// The images that a crash can leave are made by `SimulatedDisk+Images.swift`.
package final class SimulatedDisk: FileSystem {
    package enum Fault: Equatable {
        /// The machine stops at this call; no later call does anything.
        case crash
        /// The call fails with this error number. A write leaves so many of its bytes; a sync makes durable, or loses
        /// for good, what it should have synced, as systems do: the next sync would not try again.
        case fail(number: Int32, writes: Kept = .half, syncs: Kept = .none)

        package enum Kept: Equatable {
            case none, half, all
        }

        /// An input/output error.
        package static let refuse = Fault.fail(number: 5)
        /// The device is full.
        package static let full = Fault.fail(number: 28)
    }

    enum Change {
        case write(offset: Int, bytes: [UInt8])
        case truncate(size: Int)
    }

    struct Content {
        var live: [UInt8] = []
        var durable: [UInt8] = []
        /// In order; the number tells which of them a sync that takes its time had in front of it.
        var pending: [(number: Int, change: Change)] = []
    }

    struct Trap {
        var at: Int
        var isForEver: Bool
        var fault: Fault

        func springs(at call: Int) -> Bool { isForEver ? call >= at : call == at }
    }

    struct State {
        var contents: [Content] = []
        var names: [String: Int] = [:]
        var durableNames: [String: Int] = [:]
        /// Each is one step: all of its names change, or none.
        var pendingNames: [[String: Int?]] = []
        var directories: Set<String> = []
        var locked: Set<String> = []
        var changes = 0
        var calls = 0
        var reads = 0
        var syncs = 0
        var syncsAfterFailure = 0
        var bytesRead = 0
        var trap: Trap?
        var readTrap: Trap?
        var capacity = Int.max
        var peak = 0
        var hasCrashed = false
        /// Of the last changing call, and of the call that failed by a fault with the one in front of it.
        var lastPath: String?
        var refusedPaths: [String] = []
        var duringSync: (@Sendable () -> Void)?

        fileprivate var used: Int { names.values.reduce(0) { $0 + contents[$1].live.count } }
    }

    let state: Mutex<State>
    /// What the disk writes as a whole or not at all.
    package let sector: Int

    package init(directories: Set<String> = ["/store"], sector: Int = 512) {
        state = Mutex(State(directories: directories))
        self.sector = sector
    }

    init(_ state: sending State, sector: Int) {
        self.state = Mutex(state)
        self.sector = sector
    }

    // MARK: Faults

    /// Calls so far that change something or make it durable.
    package var calls: Int { state.withLock { $0.calls } }
    /// Calls so far that only look: open, list, size, read.
    package var reads: Int { state.withLock { $0.reads } }
    /// Of files and of directories.
    package var syncs: Int { state.withLock { $0.syncs } }
    /// Syncs of a descriptor of which a sync had failed: such a sync may report success for what is lost.
    package var syncsAfterFailure: Int { state.withLock { $0.syncsAfterFailure } }
    package var bytesRead: Int { state.withLock { $0.bytesRead } }

    /// The fault comes at the changing call with this number, counted from 0; `forEver`: at each one after it as well.
    package func fail(atCall call: Int, _ fault: Fault, forEver: Bool = false) {
        state.withLock { $0.trap = Trap(at: call, isForEver: forEver, fault: fault) }
    }

    /// The same for the calls that only look.
    package func fail(atRead read: Int, _ fault: Fault, forEver: Bool = false) {
        state.withLock { $0.readTrap = Trap(at: read, isForEver: forEver, fault: fault) }
    }

    /// The machine stops now; no later call does anything.
    package func crash() { state.withLock { $0.hasCrashed = true } }

    /// Whether the machine has stopped: what it left is in the images.
    package var hasCrashed: Bool { state.withLock { $0.hasCrashed } }

    /// The file or directory of the last call that failed by a fault; if that changes something, behind the one of the changing
    /// call in front of it.
    package var refusedPaths: [String] { state.withLock { $0.refusedPaths } }

    /// All files together get no longer than this; a write that does not fit leaves what does.
    package func limit(to capacity: Int) {
        state.withLock { $0.capacity = capacity }
    }

    /// The most bytes that all files together ever had.
    package var peak: Int { state.withLock { $0.peak } }

    /// Called in the middle of each sync of a file, while other calls go on. What is written meanwhile is not synced.
    package func duringSync(_ body: (@Sendable () -> Void)?) {
        state.withLock { $0.duringSync = body }
    }

    /// Nil: the call does its work.
    fileprivate func begin(_ call: String, _ path: String, _ state: inout State) throws(FileSystemError) -> Fault? {
        if state.hasCrashed { throw .simulated(call, path) }
        defer {
            state.calls += 1
            state.lastPath = path
        }
        guard let trap = state.trap, trap.springs(at: state.calls) else { return nil }
        if trap.fault == .crash { state.hasCrashed = true }
        state.refusedPaths = [state.lastPath, path].compactMap { $0 }
        return trap.fault
    }

    /// For calls that do all or nothing.
    fileprivate func pass(_ call: String, _ path: String, _ state: inout State) throws(FileSystemError) {
        if let fault = try begin(call, path, &state) { throw .simulated(call, path, fault) }
    }

    fileprivate func look(_ call: String, _ path: String, _ state: inout State) throws(FileSystemError) {
        if state.hasCrashed { throw .simulated(call, path) }
        defer { state.reads += 1 }
        guard let trap = state.readTrap, trap.springs(at: state.reads) else { return }
        if trap.fault == .crash { state.hasCrashed = true }
        state.refusedPaths = [path]
        throw .simulated(call, path, trap.fault)
    }

    // MARK: FileSystem

    package func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File {
        try withState { state throws(FileSystemError) in
            if mode == .create {
                if state.names[path] != nil { throw .simulated("open", path, .fail(number: 17)) }
                try pass("open", path, &state)
                state.contents.append(Content())
                state.names[path] = state.contents.count - 1
                state.pendingNames.append([path: state.contents.count - 1])
            } else {
                try look("open", path, &state)
            }
            guard let index = state.names[path] else { throw .notFound(path) }
            return SimulatedFile(disk: self, index: index, path: path)
        }
    }

    package func list(_ directory: String) throws(FileSystemError) -> [String] {
        try withState { state throws(FileSystemError) in
            try look("opendir", directory, &state)
            guard state.hasDirectory(directory) else { throw .notFound(directory) }
            return state.names.keys.filter { $0.hasPrefix(directory + "/") }
                .map { String($0.dropFirst(directory.count + 1)) }
        }
    }

    package func createDirectory(_ path: String) throws(FileSystemError) {
        try withState { state throws(FileSystemError) in
            try pass("mkdir", path, &state)
            state.directories.insert(path)
        }
    }

    package func rename(_ path: String, to target: String) throws(FileSystemError) {
        try withState { state throws(FileSystemError) in
            try pass("rename", path, &state)
            if state.hasDirectory(path) { return state.renameDirectory(path, to: target) }
            guard let index = state.names.removeValue(forKey: path) else { throw .notFound(path) }
            state.names[target] = index
            state.pendingNames.append([path: nil, target: index])
        }
    }

    package func remove(_ path: String) throws(FileSystemError) {
        try withState { state throws(FileSystemError) in
            try pass("unlink", path, &state)
            guard state.names.removeValue(forKey: path) != nil else { throw .notFound(path) }
            state.pendingNames.append([path: nil])
        }
    }

    package func syncDirectory(_ path: String) throws(FileSystemError) {
        try withState { state throws(FileSystemError) in
            try pass("fsync", path, &state)
            state.syncs += 1
            state.durableNames = state.names
            state.pendingNames = []
        }
    }

    package func lock(_ path: String) throws(FileSystemError) -> LockOutcome {
        let isFree = state.withLock { $0.locked.insert(path).inserted }
        return isFree ? .taken(SimulatedLock(disk: self, path: path)) : .heldByAnother(processID: 42)
    }

    fileprivate func withState<Value>(
        _ body: (inout State) throws(FileSystemError) -> sending Value
    ) throws(FileSystemError) -> sending Value {
        try state.withLock { state throws(FileSystemError) in try body(&state) }
    }

    // MARK: Bytes, for tests that change them behind the log's back

    package subscript(path: String) -> [UInt8] {
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

    package var paths: [String] { state.withLock { $0.names.keys.sorted() } }

    package func erase(_ path: String) {
        state.withLock {
            $0.names[path] = nil
            $0.durableNames[path] = nil
        }
    }
}

private final class SimulatedLock: FileLock, Sendable {
    let disk: SimulatedDisk
    let path: String
    let isHeld = Mutex(true)

    init(disk: SimulatedDisk, path: String) {
        self.disk = disk
        self.path = path
    }

    func release() {
        let wasHeld = isHeld.withLock { isHeld in
            defer { isHeld = false }
            return isHeld
        }
        if wasHeld { disk.state.withLock { _ = $0.locked.remove(path) } }
    }

    deinit { release() }
}

private final class SimulatedFile: File, Sendable {
    let disk: SimulatedDisk
    let index: Int
    let path: String
    let hasFailed = Mutex(false)

    init(disk: SimulatedDisk, index: Int, path: String) {
        self.disk = disk
        self.index = index
        self.path = path
    }

    func size() throws(FileSystemError) -> UInt64 {
        try disk.withState { state throws(FileSystemError) in
            try disk.look("fstat", path, &state)
            return UInt64(state.contents[index].live.count)
        }
    }

    func read(at offset: UInt64, count: Int) throws(FileSystemError) -> [UInt8] {
        try disk.withState { state throws(FileSystemError) in
            try disk.look("pread", path, &state)
            let size = state.contents[index].live.count
            guard offset < UInt64(size) else { return [] }
            let end = count < size - Int(offset) ? Int(offset) + count : size
            state.bytesRead += end - Int(offset)
            return Array(state.contents[index].live[Int(offset)..<end])
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        let bytes = Array(bytes)
        try disk.withState { state throws(FileSystemError) in
            var fault = try disk.begin("pwrite", path, &state)
            var kept = bytes[...]
            if case .fail(_, let writes, _) = fault { kept = writes.of(kept) }
            let growth = Int(offset) + kept.count - state.contents[index].live.count
            let room = state.capacity == .max ? .max : max(0, state.capacity - state.used)
            if growth > room {
                kept = kept.dropLast(min(kept.count, growth - room))
                fault = fault ?? .full
            }
            if !kept.isEmpty { state.change(index, .write(offset: Int(offset), bytes: Array(kept))) }
            state.peak = max(state.peak, state.used)
            if let fault { throw .simulated("pwrite", path, fault) }
        }
    }

    func sync() throws(FileSystemError) {
        let fault = try disk.withState { state throws(FileSystemError) in try disk.begin("fdatasync", path, &state) }
        let (before, pause) = disk.state.withLock { ($0.changes, $0.duringSync) }
        if fault != .crash { pause?() }
        try disk.withState { state throws(FileSystemError) in
            let syncing = state.contents[index].pending.prefix { $0.number < before }
            if hasFailed.withLock({ $0 }) { state.syncsAfterFailure += 1 }
            switch fault {
            case .crash: break
            case .fail(_, _, let syncs):
                hasFailed.withLock { $0 = true }
                for (_, change) in syncs.of(syncing) { state.contents[index].durable.apply(change) }
                state.contents[index].pending.removeFirst(syncing.count)
            case nil:
                state.syncs += 1
                for (_, change) in syncing { state.contents[index].durable.apply(change) }
                state.contents[index].pending.removeFirst(syncing.count)
            }
            if let fault { throw .simulated("fdatasync", path, fault) }
        }
    }

    func truncate(to size: UInt64) throws(FileSystemError) {
        try disk.withState { state throws(FileSystemError) in
            try disk.pass("ftruncate", path, &state)
            state.change(index, .truncate(size: Int(size)))
        }
    }

    func close() {}
}

extension SimulatedDisk.State {
    fileprivate mutating func change(_ index: Int, _ change: SimulatedDisk.Change) {
        contents[index].live.apply(change)
        contents[index].pending.append((changes, change))
        changes += 1
    }
}

extension SimulatedDisk.Fault.Kept {
    fileprivate func of<Element>(_ elements: ArraySlice<Element>) -> ArraySlice<Element> {
        switch self {
        case .none: []
        case .half: elements.prefix(elements.count / 2)
        case .all: elements
        }
    }
}

extension FileSystemError {
    fileprivate static func simulated(
        _ call: String, _ path: String, _ fault: SimulatedDisk.Fault = .refuse
    ) -> FileSystemError {
        var number: Int32 = 5
        if case .fail(let own, _, _) = fault { number = own }
        return FileSystemError(call: call, path: path, errorNumber: number, message: "simulated")
    }

    fileprivate static func notFound(_ path: String) -> FileSystemError {
        FileSystemError(call: "open", path: path, errorNumber: 2, isNotFound: true, message: "simulated")
    }
}
