import DiskSimulation
import OperationLog
import Testing

@Suite struct SnapshotTests {
    private let small = OperationLog.Options(segmentSize: 350, runSize: 150)

    private func reader(_ disk: SimulatedDisk) throws -> LogReader {
        try LogReader(directory: Sample.directory, fileSystem: disk)
    }

    @Test func `a snapshot returns its items and has the sequence number of the next record`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        try log.append(Sample.commit(from: 1, count: 3))
        let snapshot = try SampleSnapshot.write(log)
        #expect(snapshot.sequence == 4)
        #expect(snapshot.bytes == UInt64(disk[snapshot.path].count))
        try log.append(Sample.commit(from: 4, count: 1))
        log.close()
        #expect(try reader(disk).snapshots() == [snapshot])
        #expect(try SampleSnapshot.read(disk, snapshot) == SampleSnapshot.items(4))
        #expect(try Sample.read(disk) == Sample.expected(1...4))
        #expect(try Sample.open(disk).recovery.snapshotDamages == [])
    }

    @Test func `a block of an unknown type that may be skipped is skipped in a snapshot`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        try log.append(Sample.commit(from: 1, count: 3))
        let snapshot = try SampleSnapshot.write(log)
        log.close()
        try Forger.insertSkippableBlock(in: &disk[snapshot.path])
        let cursor = try reader(disk).snapshot(snapshot)
        for expected in SampleSnapshot.items(4) {
            let item = try #require(try cursor.next())
            #expect(item.kind == expected.kind)
            #expect(Array(item.bytes) == expected.payload)
        }
        // The footer covers all blocks.
        #expect(throws: LogError.self) { try cursor.next() }
    }

    @Test func `a snapshot begins a new segment`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        for sequence in UInt64(1)...3 {
            try log.append(Sample.commit(from: sequence, count: 1))
            try SampleSnapshot.write(log)
        }
        #expect(try reader(disk).segmentList().map(\.firstSequence) == [1, 2, 3, 4])
        #expect(try reader(disk).snapshots().map(\.sequence) == [2, 3, 4])
    }

    @Test func `a snapshot before the same record replaces the previous snapshot`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        try log.append(Sample.commit(from: 1, count: 1))
        try SampleSnapshot.write(log, count: 1)
        let second = try SampleSnapshot.write(log, count: 3)
        #expect(try reader(disk).snapshots() == [second])
        #expect(try SampleSnapshot.read(disk, second).count == 3)
        #expect(try reader(disk).segmentList().count == 2)
    }

    @Test func `records that were appended without a sync are durable after a snapshot`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: .none)).log
        try log.append(Sample.commit(from: 1, count: 3))
        let snapshot = try SampleSnapshot.write(log)
        let after = disk.withoutUnsynced()
        #expect(try Sample.open(after).recovery.nextSequence == 4)
        #expect(try SampleSnapshot.read(after, snapshot) == SampleSnapshot.items(4))
    }

    @Test func `a body that throws leaves no snapshot, and the log continues`() throws {
        struct Mishap: Error {}
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        try log.append(Sample.commit(from: 1, count: 1))
        #expect(throws: Mishap.self) {
            try log.writeSnapshot { writer in
                try writer.add(kind: 1, payload: [1])
                throw Mishap()
            }
        }
        #expect(disk.paths.allSatisfy { $0.hasSuffix(".segment") || $0 == Sample.end })
        try log.append(Sample.commit(from: 2, count: 1))
        #expect(try Sample.read(disk) == Sample.expected(1...2))
    }

    @Test func `an unfinished snapshot is removed at the next open and never listed`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [1])
        disk[SampleSnapshot.path(2) + ".new"] = Array("half".utf8)
        #expect(try reader(disk).snapshots() == [])
        let recovery = try Sample.open(disk).recovery
        #expect(recovery.removedFiles == ["00000000000000000002.snapshot.new"])
        #expect(disk.paths == [Sample.segment(1), Sample.end])
    }

    @Test func `snapshots of any size are read with any compression`() throws {
        for compression in [OperationLog.Options.Compression.stored, .zstd(level: 3)] {
            let disk = SimulatedDisk()
            let log = try Sample.open(disk, .init(compression: compression)).log
            for count in [1, 2, 1000, 20_000] {
                let snapshot = try SampleSnapshot.write(log, count: count)
                #expect(try SampleSnapshot.read(disk, snapshot) == SampleSnapshot.items(1, count: count))
                #expect(try reader(disk).verify(snapshot).items == UInt64(count))
            }
        }
    }

    @Test func `a snapshot of an encrypted log is encrypted with the key for writing`() throws {
        let keys = [LogKey.random(), LogKey.random()]
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(compression: .stored, keys: keys)).log
        try log.append(Sample.commit(from: 1, count: 3))
        let snapshot = try SampleSnapshot.write(log)
        #expect(try SampleSnapshot.read(disk, snapshot, keys: keys) == SampleSnapshot.items(4))
        #expect(disk[snapshot.path].firstRange(of: Array("operation".utf8)) == nil)
        #expect(try log.compact(keepingFrom: .max).firstSequence == 4)
        log.close()
        #expect(throws: LogError.keyRequired(path: SampleSnapshot.path(4))) { try Sample.open(disk) }
        #expect(throws: LogError.wrongKey(path: SampleSnapshot.path(4))) {
            try Sample.open(disk, .init(keys: [keys[1]]))
        }
        let (again, recovery) = try Sample.open(disk, .init(keys: keys.reversed()))
        #expect(recovery.nextSequence == 4 && recovery.snapshotDamages == [])
        // The other key begins a new segment with the same first record.
        try again.append(Sample.commit(from: 4, count: 1))
        again.close()
        #expect(try Sample.open(disk, .init(keys: keys)).recovery.snapshotDamages == [])
    }

    @Test func `a flipped bit anywhere in a snapshot is detected`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        try log.append(Sample.commit(from: 1, count: 1))
        let snapshot = try SampleSnapshot.write(log, count: 2)
        let bytes = disk[snapshot.path]
        var flips = 0
        for bit in 0..<bytes.count * 8 {
            disk[snapshot.path][bit / 8] = bytes[bit / 8] ^ (1 << UInt8(bit % 8))
            #expect(throws: LogError.self, "bit \(bit)") { try reader(disk).verify(snapshot) }
            disk[snapshot.path] = bytes
            flips += 1
        }
        print("bits flipped: \(flips)")
    }

    @Test func `a snapshot that is truncated or extended is damaged`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        let snapshot = try SampleSnapshot.write(log, count: 4)
        let bytes = disk[snapshot.path]
        for size in 0..<bytes.count {
            disk[snapshot.path] = Array(bytes[..<size])
            #expect(throws: LogError.self, "\(size) bytes") { try reader(disk).verify(snapshot) }
        }
        disk[snapshot.path] = bytes + [0]
        #expect(throws: LogError.self) { try reader(disk).verify(snapshot) }
    }

    @Test func `a segment with the name of a snapshot is rejected, and so is the reverse`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        try log.append(Sample.commit(from: 1, count: 1))
        let snapshot = try SampleSnapshot.write(log)
        try log.append(Sample.commit(from: 2, count: 1))
        log.close()
        let (segment, copy) = (disk[Sample.segment(2)], disk.copy())
        disk[snapshot.path] = segment
        #expect(throws: LogError.self) { try reader(disk).verify(snapshot) }
        copy[Sample.segment(2)] = copy[snapshot.path]
        #expect(throws: LogError.self) { try Sample.read(copy) }
        #expect(throws: LogError.self) { try Sample.open(copy) }
    }

    @Test func `a failed call during a snapshot leaves no snapshot and a log with all records`() throws {
        func run(failing call: Int?) throws -> (disk: SimulatedDisk, calls: Int) {
            let disk = SimulatedDisk()
            let log = try Sample.open(disk, small).log
            try log.append(Sample.commit(from: 1, count: 3))
            let before = disk.calls
            if let call { disk.fail(atCall: before + call, .refuse) }
            let made = try? SampleSnapshot.write(log)
            // A failure to record the end of the log does not fail the snapshot.
            #expect((made == nil) == (call != nil && !Sample.isOfEnd(disk.refusedPaths)), "call \(call ?? -1)")
            return (disk.copy(), disk.calls - before)
        }
        let calls = try run(failing: nil).calls
        for call in 0..<calls {
            let disk = try run(failing: call).disk
            let recovery = try Sample.open(disk, small).recovery
            #expect(recovery.nextSequence == 4 && recovery.snapshotDamages == [], "call \(call)")
            #expect(try Sample.read(disk) == Sample.expected(1...3), "call \(call)")
            for snapshot in try reader(disk).snapshots() {
                #expect(try SampleSnapshot.read(disk, snapshot) == SampleSnapshot.items(4), "call \(call)")
            }
        }
        print("refused calls: \(calls)")
    }
}
