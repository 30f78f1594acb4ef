import DiskSimulation
import OperationLog
import Synchronization

/// A simulated disk that records the calls that change files, and their order.
final class CallRecorder: FileSystem {
    let disk: SimulatedDisk
    private let recorded = Mutex<[String]>([])

    init(_ disk: SimulatedDisk) { self.disk = disk }

    /// The calls, such as `rename /a to /b`, `write /a`, `sync /a`; `sync /` with the path of a directory.
    var calls: [String] { recorded.withLock { $0 } }

    fileprivate func record(_ call: String) { recorded.withLock { $0.append(call) } }

    /// Returns the call that follows each call with the prefix, or an empty text at the end.
    func following(_ prefix: String) -> [String] {
        let calls = calls
        return calls.indices.filter { calls[$0].hasPrefix(prefix) }.map { $0 + 1 < calls.count ? calls[$0 + 1] : "" }
    }

    func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File {
        RecordedFile(try disk.open(path, mode), path, self)
    }

    func list(_ directory: String) throws(FileSystemError) -> [String] { try disk.list(directory) }

    func createDirectory(_ path: String) throws(FileSystemError) { try disk.createDirectory(path) }

    func rename(_ path: String, to target: String) throws(FileSystemError) {
        record("rename \(path) to \(target)")
        try disk.rename(path, to: target)
    }

    func remove(_ path: String) throws(FileSystemError) {
        record("remove \(path)")
        try disk.remove(path)
    }

    func syncDirectory(_ path: String) throws(FileSystemError) {
        record("sync \(path)")
        try disk.syncDirectory(path)
    }

    func lock(_ path: String) throws(FileSystemError) -> LockOutcome { try disk.lock(path) }
}

private final class RecordedFile: File {
    private let file: any File
    private let path: String
    private let recorder: CallRecorder

    init(_ file: any File, _ path: String, _ recorder: CallRecorder) {
        self.file = file
        self.path = path
        self.recorder = recorder
    }

    func size() throws(FileSystemError) -> UInt64 { try file.size() }

    func read(at offset: UInt64, count: Int) throws(FileSystemError) -> [UInt8] {
        try file.read(at: offset, count: count)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        recorder.record("write \(path)")
        try file.write(bytes, at: offset)
    }

    func sync() throws(FileSystemError) {
        recorder.record("sync \(path)")
        try file.sync()
    }

    func truncate(to size: UInt64) throws(FileSystemError) {
        recorder.record("truncate \(path)")
        try file.truncate(to: size)
    }

    func close() { file.close() }
}
