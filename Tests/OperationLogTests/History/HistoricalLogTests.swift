import DiskSimulation
import OperationLog
import Synchronization
import Testing

@Suite struct HistoricalLogTests {
    /// The layout of a log on the disk.
    enum Form: CaseIterable {
        case single, long, sealed, packed, encrypted

        var options: OperationLog.Options {
            switch self {
            case .single, .long: .init()
            case .sealed: .init(sealing: .asWritten, segmentSize: 900, runSize: 400)
            case .packed: .init(sealing: .repacked(level: 3), segmentSize: 900)
            case .encrypted: .init(segmentSize: 900, keys: [Sample.key])
            }
        }

        var commits: [Int] {
            switch self {
            case .single: Array(repeating: 1, count: 60)
            case .long: [1, 40, 3, 30]
            case .sealed, .packed, .encrypted: Array(repeating: 3, count: 20)
            }
        }
    }

    private func disk(_ form: Form) throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: form.commits, form.options)
        return disk
    }

    private func past(_ disk: any FileSystem, _ last: UInt64?, _ form: Form = .single) throws -> HistoricalLog {
        try HistoricalLog(directory: Sample.directory, through: last, keys: form.options.keys, fileSystem: disk)
    }

    private func records(_ past: HistoricalLog, _ form: Form = .single) throws -> [LogRecord] {
        try Sample.records(
            LogReader(directory: past.directory, keys: form.options.keys, fileSystem: past.fileSystem).records())
    }

    @Test(arguments: Form.allCases)
    func `the historical log at each record contains exactly the records up to it`(form: Form) throws {
        let disk = try disk(form)
        let count = UInt64(form.commits.reduce(0, +))
        for last in 0...count {
            let past = try past(disk, last, form)
            #expect(past.lastSequence == last)
            #expect(try records(past, form) == (last == 0 ? [] : Sample.expected(1...last)))
        }
    }

    @Test(arguments: Form.allCases)
    func `appends to a historical log do not change the log`(form: Form) throws {
        let disk = try disk(form)
        let before = try Sample.read(disk, keys: form.options.keys)
        let past = try past(disk, 31, form)
        var options = form.options
        options.creation = .never
        let log = try OperationLog.open(
            directory: past.directory, options: options, fileSystem: past.fileSystem
        ).log
        for sequence in UInt64(32)...90 { try log.append(Sample.commit(from: sequence, count: 1)) }
        log.close()
        #expect(try records(past, form) == Sample.expected(1...90))
        #expect(try Sample.read(disk, keys: form.options.keys) == before)
    }

    @Test(arguments: Form.allCases)
    func `a historical log opens the files of the log only for reading`(form: Form) throws {
        let watched = WatchedFileSystem(try disk(form))
        let past = try past(watched, 31, form)
        var options = form.options
        options.creation = .never
        let log = try OperationLog.open(
            directory: past.directory, options: options, fileSystem: past.fileSystem
        ).log
        for sequence in UInt64(32)...50 { try log.append(Sample.commit(from: sequence, count: 1)) }
        log.close()
        #expect(watched.changes == [])
    }

    @Test func `a historical log does not change when the log is appended to`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        for sequence in UInt64(1)...10 { try log.append(Sample.commit(from: sequence, count: 1)) }
        let past = try past(disk, nil)
        for sequence in UInt64(11)...20 { try log.append(Sample.commit(from: sequence, count: 1)) }
        #expect(past.lastSequence == 10)
        #expect(try records(past) == Sample.expected(1...10))
    }

    @Test func `a historical log stays readable when segments of the log are removed`() throws {
        let disk = try disk(.sealed)
        let past = try past(disk, 31)
        for name in try disk.list(Sample.directory) where name != "00000000000000000001.segment" {
            try disk.remove(Sample.directory + "/" + name)
        }
        let last = try Sample.records(
            LogReader(directory: past.directory, fileSystem: past.fileSystem).records(from: 31))
        #expect(last == Sample.expected(31...31))
    }

    @Test func `a historical log has the snapshots of states up to its last record`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        for sequence in UInt64(1)...12 {
            try log.append(Sample.commit(from: sequence, count: 1))
            if sequence >= 10 { try SampleSnapshot.write(log) }
        }
        log.close()
        for (last, snapshots) in [(UInt64(9), [UInt64]()), (10, [11]), (11, [11, 12]), (12, [11, 12, 13])] {
            let past = try past(disk, last)
            let reader = try LogReader(directory: past.directory, fileSystem: past.fileSystem)
            #expect(try reader.snapshots().map(\.sequence) == snapshots, "\(last)")
        }
    }

    @Test func `a record number after the end selects all records`() throws {
        let past = try past(try disk(.sealed), 1_000)
        #expect(past.lastSequence == 60)
        #expect(try records(past) == Sample.expected(1...60))
    }

    @Test func `a directory without a log has no historical log`() throws {
        #expect(throws: LogError.noLog(path: Sample.directory)) { try self.past(SimulatedDisk(), 1) }
    }
}

/// A file system that records every call that can change a file.
private final class WatchedFileSystem: FileSystem {
    private let inner: SimulatedDisk
    private let noted = Mutex<[String]>([])

    init(_ inner: SimulatedDisk) { self.inner = inner }

    var changes: [String] { noted.withLock { $0 } }

    private func note(_ call: String) { noted.withLock { $0.append(call) } }

    func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File {
        if mode != .read { note("open \(path)") }
        return try inner.open(path, mode)
    }

    func list(_ directory: String) throws(FileSystemError) -> [String] { try inner.list(directory) }

    func createDirectory(_ path: String) throws(FileSystemError) {
        note("createDirectory \(path)")
        try inner.createDirectory(path)
    }

    func rename(_ path: String, to target: String) throws(FileSystemError) {
        note("rename \(path)")
        try inner.rename(path, to: target)
    }

    func remove(_ path: String) throws(FileSystemError) {
        note("remove \(path)")
        try inner.remove(path)
    }

    func syncDirectory(_ path: String) throws(FileSystemError) {
        note("syncDirectory \(path)")
        try inner.syncDirectory(path)
    }

    func lock(_ path: String) throws(FileSystemError) -> LockOutcome {
        note("lock \(path)")
        return try inner.lock(path)
    }
}
