import DiskSimulation
import OperationLog
import Testing

@Suite struct ReaderTests {
    /// Returns a log with many segments and runs.
    private func longLog() throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: Array(repeating: 3, count: 60), .init(segmentSize: 900, runSize: 400))
        return disk
    }

    @Test func `reading can begin and end at any record`() throws {
        let disk = try longLog()
        let reader = try LogReader(directory: Sample.directory, fileSystem: disk)
        for first in UInt64(1)...180 {
            #expect(try reader.record(first) == Sample.record(first))
            #expect(
                try Sample.records(reader.records(from: first, through: first + 4)).map(\.sequence)
                    == Array(first...min(first + 4, 180)))
        }
    }

    @Test func `there are no records before the first and after the last one`() throws {
        let reader = try LogReader(directory: Sample.directory, fileSystem: longLog())
        #expect(try reader.record(0) == nil)
        #expect(try reader.record(181) == nil)
        #expect(try Sample.records(reader.records(from: 181)) == [])
        #expect(try Sample.records(reader.records(from: .max)) == [])
        #expect(try Sample.records(reader.records(from: 0)).count == 180)
    }

    @Test func `a cursor at the end continues with records that are appended later, across segments`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(segmentSize: 600)).log
        let cursor = try LogReader(directory: Sample.directory, fileSystem: disk).records()
        var seen: [LogRecord] = []
        for sequence in UInt64(1)...50 {
            #expect(try cursor.next() == nil)
            try log.append(Sample.commit(from: sequence, count: 1))
            seen.append(try #require(try cursor.next()))
        }
        #expect(seen == Sample.expected(1...50))
    }

    @Test func `a cursor at the end of a sealed segment continues in the next segment`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(segmentSize: 100)).log
        try log.append(Sample.commit(from: 1, count: 1))
        let cursor = try LogReader(directory: Sample.directory, fileSystem: disk).records(from: 5)
        #expect(try cursor.next() == nil)
        for sequence in UInt64(2)...6 { try log.append(Sample.commit(from: sequence, count: 1)) }
        #expect(try Sample.records(cursor) == Sample.expected(5...6))
    }

    @Test func `a commit that is only partly written is not returned`() throws {
        let whole = SimulatedDisk()
        let log = try Sample.open(whole).log
        try log.append(Sample.commit(from: 1, count: 1))
        let before = whole[Sample.segment(1)].count
        try log.append(Sample.commit(from: 2, count: 3, size: 700_000))
        let all = whole[Sample.segment(1)]
        let disk = whole.copy()
        for size in stride(from: before, to: all.count, by: 5003) {
            disk[Sample.segment(1)] = Array(all[..<size])
            #expect(try Sample.read(disk).count == 1)
        }
        disk[Sample.segment(1)] = all
        #expect(try Sample.read(disk).count == 4)
    }

    @Test func `a reader returns the next sequence number of a new, open, torn and sealed log`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [])
        let reader = try LogReader(directory: Sample.directory, fileSystem: disk)
        #expect(try reader.nextSequence() == 1)
        try Sample.write(disk, commits: [2, 1])
        #expect(try reader.nextSequence() == 4)
        let whole = disk[Sample.segment(1)]
        disk[Sample.segment(1)].removeLast()
        Sample.forgetEnd(disk)
        #expect(try reader.nextSequence() == 3)
        disk[Sample.segment(1)] = whole
        try Sample.write(disk, commits: [1], .init(segmentSize: 10))
        #expect(try reader.nextSequence() == 5)
        disk.erase(Sample.segment(4))
        Sample.forgetEnd(disk)
        #expect(try reader.nextSequence() == 4)
    }

    @Test func `reading changes nothing and needs no lock`() throws {
        let disk = try longLog()
        let log = try Sample.open(disk).log
        let calls = disk.calls
        #expect(try Sample.read(disk).count == 180)
        #expect(try LogVerification.verify(directory: Sample.directory, fileSystem: disk).isSound)
        #expect(disk.calls == calls)
        log.close()
    }

    @Test func `a reader of a directory without a log throws an error`() throws {
        #expect(throws: LogError.noLog(path: Sample.directory)) {
            try LogReader(directory: Sample.directory, fileSystem: SimulatedDisk())
        }
        #expect(throws: LogError.noLog(path: Sample.directory)) {
            try LogVerification.verify(directory: Sample.directory, fileSystem: SimulatedDisk())
        }
    }

    @Test func `readers on other threads see only whole commits while a writer appends`() async throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(segmentSize: 4000, runSize: 1000)).log
        try log.append(Sample.commit(from: 1, count: 3))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    let cursor = try LogReader(directory: Sample.directory, fileSystem: disk).records()
                    var seen: UInt64 = 0
                    while seen < 900 {
                        while let record = try cursor.next() {
                            seen += 1
                            #expect(record == Sample.record(seen))
                        }
                        #expect(seen % 3 == 0)
                        await Task.yield()
                    }
                }
            }
            for commit in 1..<UInt64(300) {
                try log.append(Sample.commit(from: commit * 3 + 1, count: 3))
                await Task.yield()
            }
            try await group.waitForAll()
        }
    }
}
