import DiskSimulation
import Testing

@testable import OperationLog

@Suite struct VerificationTests {
    /// Returns a log with segments of about five commits.
    private func log(_ commits: [Int] = Array(repeating: 2, count: 12)) throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: commits, .init(segmentSize: 700, runSize: 200))
        return disk
    }

    private func verify(
        _ disk: SimulatedDisk, _ depth: LogVerification.Depth = .deep, check: ((LogRecord) -> String?)? = nil
    ) throws -> LogVerification {
        try LogVerification.verify(directory: Sample.directory, depth: depth, check: check, fileSystem: disk)
    }

    @Test func `a fast verification returns the same counts as a deep one, without kinds`() throws {
        let disk = try log()
        let fast = try verify(disk, .fast)
        let deep = try verify(disk, .deep)
        #expect(fast.isSound && fast.records == 24)
        #expect(fast.segments == deep.segments)
        #expect(fast.kinds.isEmpty && !deep.kinds.isEmpty)
    }

    @Test func `the kinds' totals add up to those of the segments`() throws {
        let report = try verify(try log())
        #expect(report.kinds.values.reduce(0) { $0 + $1.records } == report.records)
        #expect(
            report.kinds.values.reduce(0) { $0 + $1.rawBytes } == report.segments.reduce(0) { $0 + $1.rawBytes })
        let stored = report.kinds.values.reduce(0) { $0 + $1.storedBytes }
        #expect(UInt64(stored.rounded()) == report.segments.reduce(0) { $0 + $1.storedBytes })
    }

    @Test func `a fast verification detects every flipped bit that a deep one detects`() throws {
        let whole = try log([1, 2, 1, 3])
        for path in whole.paths where path.hasSuffix(".segment") {
            for index in whole[path].indices {
                let disk = whole.copy()
                disk[path][index] ^= 1 << UInt8(index % 8)
                let fast = try? verify(disk, .fast)
                let deep = try? verify(disk, .deep)
                #expect(
                    fast.map { $0.isSound && $0.tail == nil } == deep.map { $0.isSound && $0.tail == nil },
                    "\(path), byte \(index)")
            }
        }
    }

    @Test func `only a deep verification detects content that contradicts the chain`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [1], .init(compression: .stored))
        // Both checksums match the changed content. No accident does this, but a bug before writing could.
        let path = Sample.segment(1)
        disk[path][disk[path].count - 1] ^= 1
        Forger.fitChecksums(ofBlockAt: 64, in: &disk[path])
        #expect(try verify(disk, .fast).isSound)
        #expect(
            try verify(disk, .deep).damages.map(\.fault)
                == [.undecodable(reason: "the content does not match the chain")])
    }

    @Test func `each record that does not decode is listed as damage`() throws {
        let report = try verify(try log(), check: { $0.sequence % 10 == 3 ? "bad" : nil })
        #expect(report.damages.map(\.sequence) == [3, 13, 23])
        #expect(report.damages.first?.fault == .undecodableRecord(kind: Sample.kind(3), reason: "bad"))
        #expect(report.records == 21)
    }

    @Test func `a segment of another log is reported, and the remaining segments are read`() throws {
        let disk = try log()
        let other = SimulatedDisk()
        let options = OperationLog.Options(segmentSize: 700, storeIdentifier: StoreIdentifier(bytes: Array(2...17)))
        let writer = try OperationLog.open(directory: Sample.directory, options: options, fileSystem: other).log
        for sequence in UInt64(1)...24 { try writer.append(Sample.commit(from: sequence, count: 1)) }
        writer.close()
        let second = try #require(disk.paths.filter { $0.hasSuffix(".segment") }.dropFirst().first)
        let foreign = try #require(other.paths.filter { $0.hasSuffix(".segment") }.dropFirst().first)
        let lost = try verify(disk).segments[1].records
        disk.erase(second)
        disk[foreign] = other[foreign]
        let report = try verify(disk)
        let isNamed = report.damages.contains { damage in
            if case .otherStore = damage.fault { damage.path == foreign } else { false }
        }
        #expect(isNamed)
        let own = report.segments.filter { $0.path != foreign }
        #expect(own.reduce(0) { $0 + $1.records } == 24 - lost)
    }

    @Test func `a segment that is not the last one has to be sealed`() throws {
        let disk = try log()
        let first = Sample.segment(1)
        let footer = try #require(Sample.blockOffsets(of: disk[first]).last)
        disk[first].removeSubrange(footer...)
        #expect(try verify(disk).damages.contains { $0.path == first && $0.fault == .notSealed })
    }

    @Test func `a commit that lacks its last block is reported as the tail`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [1])
        let log = try Sample.open(disk).log
        try log.append(Sample.commit(from: 2, count: 400, size: 8_000))
        log.close()
        let offsets = Sample.blockOffsets(of: disk[Sample.segment(1)])
        let third = try #require(offsets.dropFirst(2).first)
        disk[Sample.segment(1)].removeSubrange(third...)
        Sample.forgetEnd(disk)
        #expect(try verify(disk).tail?.reason == .unfinishedCommit)
    }

    @Test func `the segments of a report follow each other`() throws {
        let segments = try verify(try log()).segments
        #expect(segments.count > 2)
        for (segment, next) in zip(segments, segments.dropFirst()) {
            #expect(segment.nextSequence == next.firstSequence)
        }
    }

    @Test func `progress is reported before each segment`() throws {
        var reported: [LogVerification.Progress] = []
        let report = try LogVerification.verify(
            directory: Sample.directory, progress: { reported.append($0) }, fileSystem: try log())
        #expect(reported.map(\.path) == report.segments.map(\.path))
        #expect(reported.map(\.segment) == Array(1...report.segments.count))
    }

    @Test func `a block that a writer completes during verification is not damage`() throws {
        // The first read returns the file with a torn second commit, later reads return the complete file.
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [1, 1, 1])
        let whole = disk[Sample.segment(1)]
        var torn = whole
        let ends = Sample.blockOffsets(of: whole)
        for index in ends[1] + 4..<ends[1] + 20 { torn[index] = 0 }
        let late = LateDisk(disk: disk, path: Sample.segment(1), first: torn)
        let report = try LogVerification.verify(directory: Sample.directory, fileSystem: late)
        #expect(report.isSound && report.records == 3)
    }
}

/// A file system that returns different bytes for the first read of a file's blocks than for later reads.
private final class LateDisk: FileSystem {
    let disk: SimulatedDisk
    let path: String
    let first: [UInt8]

    init(disk: SimulatedDisk, path: String, first: [UInt8]) {
        self.disk = disk
        self.path = path
        self.first = first
    }

    func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File {
        let file = try disk.open(path, mode)
        return path == self.path ? LateFile(file, first: first) : file
    }
    func list(_ directory: String) throws(FileSystemError) -> [String] { try disk.list(directory) }
    func createDirectory(_ path: String) throws(FileSystemError) { try disk.createDirectory(path) }
    func rename(_ path: String, to target: String) throws(FileSystemError) { try disk.rename(path, to: target) }
    func remove(_ path: String) throws(FileSystemError) { try disk.remove(path) }
    func syncDirectory(_ path: String) throws(FileSystemError) { try disk.syncDirectory(path) }
    func lock(_ path: String) throws(FileSystemError) -> LockOutcome { try disk.lock(path) }
}

private final class LateFile: File {
    private let file: any File
    private let first: [UInt8]
    private var reads = 0

    init(_ file: any File, first: [UInt8]) {
        self.file = file
        self.first = first
    }

    func read(at offset: UInt64, count: Int) throws(FileSystemError) -> [UInt8] {
        reads += 1
        // The first read is of the segment header, the second of the blocks.
        guard reads == 2 else { return try file.read(at: offset, count: count) }
        return Array(first.dropFirst(Int(offset)).prefix(count))
    }
    func size() throws(FileSystemError) -> UInt64 { try file.size() }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        try file.write(bytes, at: offset)
    }
    func sync() throws(FileSystemError) { try file.sync() }
    func truncate(to size: UInt64) throws(FileSystemError) { try file.truncate(to: size) }
    func close() { file.close() }
}
