import DiskSimulation
import Synchronization
import Testing

@testable import OperationLog

/// The times at which the end of a log is recorded, the cost of recording it, and the cases in which the end file is
/// ignored.
@Suite struct EndFileTests {
    private func slots(_ disk: SimulatedDisk, keys: [LogKey] = []) throws -> EndSlots {
        let last = try #require(disk.paths.last { $0.hasSuffix(".segment") })
        let first = try #require(SegmentName.firstSequence(of: String(last.suffix(28))))
        let segment = try SegmentFile(
            disk, directory: Sample.directory, firstSequence: first, mode: .read, keys: keys)
        return EndSlots(disk[Sample.end], of: segment, keys: keys)
    }

    @Test func `the end is recorded when the log closes, when a segment begins, and on request`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        #expect(!disk.paths.contains(Sample.end))
        try log.append(Sample.commit(from: 1, count: 3))
        #expect(!disk.paths.contains(Sample.end))
        log.recordEnd()
        #expect(try slots(disk).newest == LogEnd(lastSegment: 1, nextSequence: 4))
        try log.append(Sample.commit(from: 4, count: 1))
        try SampleSnapshot.write(log)
        #expect(try slots(disk).newest == LogEnd(lastSegment: 5, nextSequence: 5))
        try log.append(Sample.commit(from: 5, count: 1))
        #expect(try slots(disk).newest == LogEnd(lastSegment: 5, nextSequence: 5))
        log.close()
        #expect(try slots(disk).newest == LogEnd(lastSegment: 5, nextSequence: 6))
        // The file and its directory entry are synced.
        #expect(disk.withoutUnsynced()[Sample.end] == disk[Sample.end])
        log.recordEnd()
        #expect(try slots(disk).newest == LogEnd(lastSegment: 5, nextSequence: 6))
    }

    @Test func `a log that is opened and closed without a change does not write the end file`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [2])
        let before = disk[Sample.end]
        let calls = disk.calls
        try Sample.write(disk, commits: [])
        let each = disk.calls - calls
        for _ in 0..<100 { try Sample.write(disk, commits: []) }
        #expect(disk.calls - calls == each * 101)
        #expect(disk[Sample.end] == before)
        Sample.forgetEnd(disk)
        let without = disk.calls
        try Sample.write(disk, commits: [])
        // The four additional calls create, write and sync the file, and sync the directory.
        #expect(disk.calls - without == each + 4)
        #expect(disk[Sample.end].count <= 596)
    }

    @Test func `records that are not durable are not part of the recorded end`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: .none)).log
        try log.append(Sample.commit(from: 1, count: 1))
        log.recordEnd()
        log.close()
        #expect(!disk.paths.contains(Sample.end))
        let synced = try Sample.open(disk, .init(durability: .none)).log
        // Opening made the records that it found durable.
        #expect(try slots(disk).newest == LogEnd(lastSegment: 1, nextSequence: 2))
        try synced.append(Sample.commit(from: 2, count: 1))
        synced.close()
        #expect(try slots(disk).newest == LogEnd(lastSegment: 1, nextSequence: 2))
        #expect(try Sample.open(disk.withoutUnsynced()).log.nextSequence == 2)
    }

    @Test func `an end file that is empty, torn, of another store or of another version is ignored`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [2])
        let whole = disk[Sample.end]
        let other = SimulatedDisk()
        let foreign = try OperationLog.open(directory: Sample.directory, fileSystem: other).log
        try foreign.append(Sample.commit(from: 1, count: 9))
        foreign.close()
        var version = whole
        version[8] = 2
        let contents = (0..<whole.count).map { Array(whole[..<$0]) } + [other[Sample.end], version]
        for content in contents {
            let copy = disk.copy()
            copy[Sample.end] = content
            copy[Sample.segment(1)].removeLast()
            Sample.write(copy, content)
        }
    }

    @Test func `a changed bit in one slot leaves the other slot readable`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [2])
        try Sample.write(disk, commits: [1])
        let newest = LogEnd(lastSegment: 1, nextSequence: 4)
        let older = LogEnd(lastSegment: 1, nextSequence: 3)
        #expect(try slots(disk).newest == newest)
        for bit in 0..<EndSlots.Layout.byteCount * 8 {
            for (index, offset) in EndSlots.offsets.enumerated() {
                let copy = disk.copy()
                copy[Sample.end][Int(offset) + bit / 8] ^= 1 << UInt8(bit % 8)
                #expect(try slots(copy).newest == (index == 0 ? newest : older), "bit \(bit) of slot \(index)")
            }
        }
    }

    @Test(arguments: [
        SimulatedDisk.Fault.refuse, .full, .fail(number: 5, writes: .none), .fail(number: 5, writes: .all),
    ])
    func `a failure to record the end loses no record and fails no call`(_ fault: SimulatedDisk.Fault) throws {
        // The first close creates, writes and syncs the file and syncs the directory. The second writes and syncs the
        // file.
        for call in 0..<6 {
            let disk = SimulatedDisk()
            let log = try Sample.open(disk).log
            try log.append(Sample.commit(from: 1, count: 1))
            if call < 4 { disk.fail(atCall: disk.calls + call, fault) }
            log.close()
            let again = try Sample.open(disk).log
            try again.append(Sample.commit(from: 2, count: 1))
            if call >= 4 { disk.fail(atCall: disk.calls + call - 4, fault) }
            again.close()
            #expect(Sample.isOfEnd(disk.refusedPaths), "call \(call): \(disk.refusedPaths)")
            for image in [disk.copy(), disk.withoutUnsynced()] {
                #expect(try Sample.open(image).log.nextSequence == 3, "call \(call)")
                #expect(try Sample.read(image) == Sample.expected(1...2), "call \(call)")
            }
        }
    }

    @Test func `the end of an encrypted log is accepted only if it was written with the key`() throws {
        let keys = [Sample.key]
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [2], .init(keys: keys))
        let segment = try SegmentFile(
            disk, directory: Sample.directory, firstSequence: 1, mode: .read, keys: keys)
        let plain = EndSlots([], of: segment, keys: [])
        let foreign = EndSlots([], of: segment, keys: [Sample.otherKey])
        for (forger, isOwner) in [(plain, false), (foreign, false), (EndSlots([], of: segment, keys: keys), true)] {
            let copy = disk.copy()
            let slot = forger.encoded(LogEnd(lastSegment: 1, nextSequence: 99))
            copy[Sample.end] += [UInt8](repeating: 0, count: 512 - copy[Sample.end].count) + slot
            #expect(try slots(copy, keys: keys).newest?.nextSequence == (isOwner ? 99 : 3))
            // Changing only the sequence number is detected too.
            copy[Sample.end].replaceSubrange(512..<512 + slot.count, with: slot)
            copy[Sample.end][512 + EndSlots.Layout.nextSequence.offset] ^= 1
            #expect(try slots(copy, keys: keys).newest?.nextSequence == 3)
        }
    }

    @Test func `a log records its end after each change of its key`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [2])
        for keys in [[Sample.key], [Sample.otherKey, Sample.key]] {
            try Sample.write(disk, commits: [], .init(keys: keys))
            try Sample.write(disk, commits: [1], .init(keys: keys))
            let next = try LogReader(directory: Sample.directory, keys: keys, fileSystem: disk).nextSequence()
            #expect(try slots(disk, keys: keys).newest?.nextSequence == next)
        }
    }

    @Test func `a historical log is not damaged after further appends or when the end is recorded later`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        try log.append(Sample.commit(from: 1, count: 1))
        try log.append(Sample.commit(from: 2, count: 2))
        let early = try HistoricalLog(directory: Sample.directory, through: 1, fileSystem: disk)
        log.close()
        for past in [early, try HistoricalLog(directory: Sample.directory, through: 2, fileSystem: disk)] {
            let reader = try LogReader(directory: Sample.directory, fileSystem: past.fileSystem)
            #expect(try reader.nextSequence() == past.lastSequence + 1)
            #expect(try Sample.records(reader.records()) == Sample.expected(1...past.lastSequence))
            #expect(try LogVerification.verify(directory: Sample.directory, fileSystem: past.fileSystem).isSound)
            let written = try OperationLog.open(directory: Sample.directory, fileSystem: past.fileSystem).log
            #expect(written.nextSequence == past.lastSequence + 1)
            written.close()
        }
    }

    @Test func `readers do not mistake the changes of an active writer for damage`() throws {
        let place = TemporaryDirectory()
        defer { place.remove() }
        let directory = place.path + "/log"
        let isOver = Mutex(false)
        let failures = Mutex<[String]>([])
        let options = OperationLog.Options(durability: .none, sealing: .asWritten, segmentSize: 600)
        try OperationLog.open(directory: directory, options: options).log.close()
        onThreads(3) { index in
            do {
                if index == 0 {
                    defer { isOver.withLock { $0 = true } }
                    for round in 0..<300 {
                        let log = try OperationLog.open(directory: directory, options: options).log
                        for _ in 0..<4 {
                            try log.append(Sample.commit(from: log.nextSequence, count: 1))
                            if round % 3 == 0 { try log.sync() }
                            log.recordEnd()
                        }
                        log.close()
                    }
                    return
                }
                let reader = try LogReader(directory: directory)
                let cursor = reader.records()
                while !isOver.withLock({ $0 }) {
                    while try cursor.next() != nil {}
                    _ = try reader.nextSequence()
                    guard index == 2 else { continue }
                    let report = try LogVerification.verify(directory: directory, depth: .fast)
                    if !report.isSound { failures.withLock { $0.append("\(report.damages)") } }
                }
            } catch {
                failures.withLock { $0.append("thread \(index): \(error)") }
            }
        }
        #expect(failures.withLock { $0 }.isEmpty)
        #expect(try LogReader(directory: directory).nextSequence() == 1201)
    }
}

extension Sample {
    /// Opens a log whose last byte is missing, and expects that the tail is cut: the content of the end file is
    /// ignored.
    fileprivate static func write(_ disk: SimulatedDisk, _ content: [UInt8]) {
        do {
            let (log, recovery) = try open(disk)
            log.close()
            #expect(recovery.cut != nil, "\(content.count) bytes")
        } catch {
            Issue.record("\(content.count) bytes: \(error)")
        }
    }
}
