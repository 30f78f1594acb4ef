import DiskSimulation
import OperationLog
import Testing

@Suite struct AppendTests {
    @Test func `records are numbered from one without gaps and are read as appended`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        #expect(try log.append(Sample.commit(from: 1, count: 1)) == 1...1)
        #expect(try log.append(Sample.commit(from: 2, count: 3)) == 2...4)
        #expect(log.nextSequence == 5)
        #expect(try Sample.read(disk) == Sample.expected(1...4))
    }

    @Test func `empty payloads and all kinds are stored`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        try log.append((0...255).map { (kind: UInt8($0), payload: []) })
        #expect(try Sample.read(disk).map(\.kind) == Array(0...255))
    }

    @Test func `a reopened log continues after its last record`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [1, 2])
        let (log, recovery) = try Sample.open(disk)
        #expect(recovery.cut == nil && !recovery.created && recovery.nextSequence == 4)
        try log.append(Sample.commit(from: 4, count: 2))
        #expect(try Sample.read(disk) == Sample.expected(1...5))
    }

    @Test(arguments: [OperationLog.Options.Compression.stored, .zstd(level: 1), .zstd(level: 19), .zstd(level: 900)])
    func `records are read with every compression method and level`(compression: OperationLog.Options.Compression)
        throws
    {
        let disk = SimulatedDisk()
        try Sample.write(
            disk, commits: Array(repeating: 1, count: 200), .init(compression: compression, runSize: 2000))
        #expect(try Sample.read(disk) == Sample.expected(1...200))
    }

    @Test func `a full segment is sealed and a new one begins, and all segments are read as one log`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: Array(repeating: 2, count: 100), .init(segmentSize: 1000, runSize: 300))
        let segments = disk.paths.filter { $0.hasSuffix(".segment") }
        #expect(segments.count > 5)
        #expect(try Sample.read(disk) == Sample.expected(1...200))
        let report = try LogVerification.verify(directory: Sample.directory, fileSystem: disk)
        #expect(report.isSound && report.tail == nil && report.records == 200)
        #expect(report.segments.dropLast().allSatisfy { $0.isSealed })
    }

    @Test func `a small commit is compressed with the help of the previous commits`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        for number in 0..<500 {
            let json =
                #"{"OrderID":\#(number),"Customer":"C\#(number % 17)","Status":"shipped","Amount":\#(number * 7).00}"#
            try log.append([(kind: 1, payload: Array(json.utf8))])
        }
        let report = try LogVerification.verify(directory: Sample.directory, fileSystem: disk)
        // With a separate frame for each commit, the stored size would not be below the raw size.
        #expect(report.segments[0].storedBytes * 2 < report.segments[0].rawBytes)
    }

    @Test func `a commit that is larger than a block is stored in several blocks`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        try log.append(Sample.commit(from: 1, count: 5, size: 600_000))
        let records = try Sample.read(disk)
        #expect(records == (1...5).map { Sample.record($0, size: 600_000) })
        #expect(try LogVerification.verify(directory: Sample.directory, fileSystem: disk).blocks == 5)
    }

    @Test func `the largest payload is accepted, and one more byte is rejected without an effect`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        let largest = [UInt8](repeating: 7, count: LogFormat.maximumPayload)
        #expect(throws: LogError.recordTooLarge(bytes: largest.count + 1, maximum: largest.count)) {
            try log.append([(kind: 1, payload: largest + [0])])
        }
        #expect(log.nextSequence == 1)
        try log.append([(kind: 1, payload: largest)])
        #expect(try Sample.read(disk).map(\.payload) == [largest])
    }

    @Test func `each commit is durable when append returns`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        let before = disk.syncs
        for sequence in UInt64(1)...10 {
            try log.append(Sample.commit(from: sequence, count: 1))
            #expect(log.durableSequence == sequence)
        }
        #expect(disk.syncs == before + 10)
        #expect(try Sample.read(disk.withoutUnsynced()) == Sample.expected(1...10))
    }

    @Test func `without durability a commit is durable after sync`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: .none)).log
        try log.append(Sample.commit(from: 1, count: 2))
        #expect(log.durableSequence == 0)
        #expect(try Sample.read(disk.withoutUnsynced()) == [])
        try log.sync()
        #expect(log.durableSequence == 2)
        #expect(try Sample.read(disk.withoutUnsynced()) == Sample.expected(1...2))
    }

    @Test func `a log of another store is rejected`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [1])
        let other = try #require(StoreIdentifier(bytes: Array(repeating: 9, count: 16)))
        #expect(throws: LogError.otherStore(path: Sample.directory, expected: other, found: Sample.store)) {
            try OperationLog.open(
                directory: Sample.directory, options: .init(storeIdentifier: other), fileSystem: disk)
        }
    }

    @Test func `a missing log is not created if the options forbid it`() throws {
        let disk = SimulatedDisk()
        #expect(throws: LogError.noLog(path: Sample.directory)) {
            try Sample.open(disk, .init(creation: .never))
        }
        #expect(disk.paths.isEmpty)
    }

    @Test func `a second writer is rejected with lock file and process ID until the first one closes`() throws {
        let disk = SimulatedDisk()
        let first = try Sample.open(disk).log
        #expect(throws: LogError.locked(path: "/store/LOCK", processID: 42)) { try Sample.open(disk) }
        first.close()
        _ = try Sample.open(disk)
    }

    @Test func `a closed log accepts no commits`() throws {
        let log = try Sample.open(SimulatedDisk()).log
        log.close()
        #expect(throws: LogError.closed(cause: nil)) { try log.append(Sample.commit(from: 1, count: 1)) }
    }
}
