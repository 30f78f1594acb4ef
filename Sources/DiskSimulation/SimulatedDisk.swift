package import OperationLog
import Synchronization

/// An in-memory disk that distinguishes the data that programs see from the data that survives a power loss. Every call
/// can stop the disk or fail. The disk can be used by any number of threads.
///
/// Possible effects of a crash: each sector of each write since the last sync is present or absent, independently of
/// all other sectors. If a write extended the file, absent bytes are zeros, or the file did not grow. Changes of names
/// since the last sync of their directory are present up to some point, in order. As with every journaling file system,
/// a crash never reverts synced data and never leaves half of a rename.
///
/// `SimulatedDisk+Images.swift` creates the images that a crash can leave.
package final class SimulatedDisk: FileSystem {
    package enum Fault: Equatable {
        /// The machine stops at this call, and all later calls fail.
        case crash
        /// The call fails with the error number. A write keeps a part of its bytes. A sync makes a part of its data
        /// durable and loses the rest permanently, as operating systems do: the next sync does not retry.
        case fail(number: Int32, writes: RetainedPart = .half, syncs: RetainedPart = .none)

        package enum RetainedPart: Equatable {
            case none, half, all
        }

        /// An input/output error.
        package static let refuse = Fault.fail(number: 5)
        /// The device has no space left.
        package static let full = Fault.fail(number: 28)
    }

    enum Change {
        case write(offset: Int, bytes: [UInt8])
        case truncate(size: Int)
    }

    struct FileContents {
        var live: [UInt8] = []
        var durable: [UInt8] = []
        /// In order. A sync that takes time includes only the changes whose number was assigned before it began.
        var pending: [(number: Int, change: Change)] = []
    }

    struct ScheduledFault {
        var at: Int
        var isForEver: Bool
        var fault: Fault

        func springs(at call: Int) -> Bool { isForEver ? call >= at : call == at }
    }

    struct DiskState {
        var contents: [FileContents] = []
        var names: [String: Int] = [:]
        var durableNames: [String: Int] = [:]
        /// Each step is atomic: all of its names change, or none of them.
        var pendingNames: [[String: Int?]] = []
        var directories: Set<String> = []
        var locked: Set<String> = []
        var changes = 0
        var calls = 0
        var reads = 0
        var syncs = 0
        var syncsAfterFailure = 0
        var bytesRead = 0
        var trap: ScheduledFault?
        var readTrap: ScheduledFault?
        var capacity = Int.max
        var peak = 0
        var hasCrashed = false
        /// `lastPath` is the path of the last changing call. `refusedPaths` contains the path of the last call that
        /// failed by a fault; if it was a changing call, after the path of the changing call before it.
        var lastPath: String?
        var refusedPaths: [String] = []
        var duringSync: (@Sendable () -> Void)?

        fileprivate var used: Int { names.values.reduce(0) { $0 + contents[$1].live.count } }
    }

    let state: Mutex<DiskState>
    /// The number of bytes that the disk writes atomically.
    package let sector: Int

    package init(directories: Set<String> = ["/store"], sector: Int = 512) {
        state = Mutex(DiskState(directories: directories))
        self.sector = sector
    }

    init(_ state: sending DiskState, sector: Int) {
        self.state = Mutex(state)
        self.sector = sector
    }

    // MARK: Faults

    /// The number of calls so far that change data or make it durable.
    package var calls: Int { state.withLock { $0.calls } }
    /// The number of calls so far that only read: open, list, size, read.
    package var reads: Int { state.withLock { $0.reads } }
    /// The number of successful syncs of files and directories.
    package var syncs: Int { state.withLock { $0.syncs } }
    /// The number of syncs of descriptors for which an earlier sync failed. Such a sync may report success although
    /// data was lost.
    package var syncsAfterFailure: Int { state.withLock { $0.syncsAfterFailure } }
    package var bytesRead: Int { state.withLock { $0.bytesRead } }

    /// Injects a fault at the changing call with the given number, counted from 0.
    ///
    /// - Parameter forEver: Whether all later changing calls have the fault as well.
    package func fail(atCall call: Int, _ fault: Fault, forEver: Bool = false) {
        state.withLock { $0.trap = ScheduledFault(at: call, isForEver: forEver, fault: fault) }
    }

    /// Injects a fault at the reading call with the given number, counted from 0.
    ///
    /// - Parameter forEver: Whether all later reading calls have the fault as well.
    package func fail(atRead read: Int, _ fault: Fault, forEver: Bool = false) {
        state.withLock { $0.readTrap = ScheduledFault(at: read, isForEver: forEver, fault: fault) }
    }

    /// Stops the machine. All later calls fail.
    package func crash() { state.withLock { $0.hasCrashed = true } }

    /// Whether the machine has stopped. The images show its remaining data.
    package var hasCrashed: Bool { state.withLock { $0.hasCrashed } }

    /// The path of the last call that failed by a fault. If it was a changing call, the path of the changing call
    /// before it precedes it.
    package var refusedPaths: [String] { state.withLock { $0.refusedPaths } }

    /// Limits the total size of all files. A write beyond the limit writes the bytes that fit, and fails.
    package func limit(to capacity: Int) {
        state.withLock { $0.capacity = capacity }
    }

    /// The largest total size of all files so far, in bytes.
    package var peak: Int { state.withLock { $0.peak } }

    /// Sets a closure that is called in the middle of each sync of a file, while other calls proceed. Data that is
    /// written during the call is not synced.
    package func duringSync(_ body: (@Sendable () -> Void)?) {
        state.withLock { $0.duringSync = body }
    }

    /// Counts a changing call, and returns the fault to inject, or nil if there is none.
    fileprivate func begin(_ call: String, _ path: String, _ state: inout DiskState) throws(FileSystemError) -> Fault? {
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

    /// Counts a changing call that has either its full effect or none.
    fileprivate func pass(_ call: String, _ path: String, _ state: inout DiskState) throws(FileSystemError) {
        if let fault = try begin(call, path, &state) { throw .simulated(call, path, fault) }
    }

    fileprivate func look(_ call: String, _ path: String, _ state: inout DiskState) throws(FileSystemError) {
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
                state.contents.append(FileContents())
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
        _ body: (inout DiskState) throws(FileSystemError) -> sending Value
    ) throws(FileSystemError) -> sending Value {
        try state.withLock { state throws(FileSystemError) in try body(&state) }
    }

    // MARK: Bytes, for tests that modify them

    package subscript(path: String) -> [UInt8] {
        get { state.withLock { state in state.names[path].map { state.contents[$0].live } ?? [] } }
        set {
            state.withLock { state in
                var content = FileContents()
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

extension SimulatedDisk.DiskState {
    fileprivate mutating func change(_ index: Int, _ change: SimulatedDisk.Change) {
        contents[index].live.apply(change)
        contents[index].pending.append((changes, change))
        changes += 1
    }
}

extension SimulatedDisk.Fault.RetainedPart {
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
