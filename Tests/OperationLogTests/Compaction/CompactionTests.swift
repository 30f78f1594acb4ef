import DiskSimulation
import OperationLog
import Testing

@Suite struct CompactionTests {
    private let small = OperationLog.Options(segmentSize: 350, runSize: 150)

    private func reader(_ disk: SimulatedDisk) throws -> LogReader {
        try LogReader(directory: Sample.directory, fileSystem: disk)
    }

    /// Returns a log with thirty records in several segments, then a snapshot, then three more records.
    private func longLog(_ disk: SimulatedDisk) throws -> OperationLog {
        let log = try Sample.open(disk, small).log
        for sequence in UInt64(1)...30 { try log.append(Sample.commit(from: sequence, count: 1)) }
        try SampleSnapshot.write(log)
        for sequence in UInt64(31)...33 { try log.append(Sample.commit(from: sequence, count: 1)) }
        return log
    }

    @Test func `without a snapshot nothing is removed`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, small).log
        for sequence in UInt64(1)...30 { try log.append(Sample.commit(from: sequence, count: 1)) }
        let report = try log.compact(keepingFrom: .max)
        #expect(report.firstSequence == 1 && report.snapshot == nil && report.removedSegments == 0)
        #expect(try Sample.read(disk) == Sample.expected(1...30))
    }

    @Test func `compaction removes the segments before the snapshot and keeps those after it`() throws {
        let disk = SimulatedDisk()
        let log = try longLog(disk)
        let sizes = disk.paths.filter { $0 < Sample.segment(31) }.map { disk[$0].count }
        let report = try log.compact(keepingFrom: .max)
        #expect(report.firstSequence == 31)
        #expect(report.removedSegments == sizes.count && report.removedSnapshots == 0)
        #expect(report.removedBytes == UInt64(sizes.reduce(0, +)))
        #expect(try reader(disk).firstSequence() == 31)
        #expect(try Sample.read(disk, from: 31) == Sample.expected(31...33))
        try log.append(Sample.commit(from: 34, count: 1))
        log.close()
        let recovery = try Sample.open(disk, small).recovery
        #expect(recovery.nextSequence == 35 && !recovery.created)
        #expect(try SampleSnapshot.read(disk, reader(disk).snapshots()[0]) == SampleSnapshot.items(31))
    }

    @Test func `compaction keeps the requested records and the rest of their segment`() throws {
        for kept in UInt64(1)...33 {
            let disk = SimulatedDisk()
            let log = try longLog(disk)
            let before = try reader(disk).segmentList().map(\.firstSequence)
            let first = try log.compact(keepingFrom: kept).firstSequence
            #expect(first == before.last { $0 <= min(kept, 31) }, "keeping from \(kept)")
            #expect(try Sample.records(reader(disk).records()) == Sample.expected(first...33))
        }
    }

    @Test func `reading begins with the first existing record, and fails for a removed one`() throws {
        let disk = SimulatedDisk()
        _ = try longLog(disk).compact(keepingFrom: .max)
        let reader = try reader(disk)
        #expect(try reader.records().next()?.sequence == 31)
        #expect(throws: LogError.compacted(first: 31)) { try reader.records(from: 30).next() }
        #expect(throws: LogError.compacted(first: 31)) { try reader.record(1) }
        #expect(try reader.record(31) == Sample.record(31))
    }

    @Test func `a cursor at removed records throws after a compaction, and a later cursor continues`() throws {
        let disk = SimulatedDisk()
        let log = try longLog(disk)
        let behind = try reader(disk).records()
        let ahead = try reader(disk).records(from: 32)
        #expect(try behind.next()?.sequence == 1)
        #expect(try ahead.next()?.sequence == 32)
        try log.compact(keepingFrom: .max)
        var seen: UInt64 = 1
        #expect(throws: LogError.compacted(first: 31)) {
            // The cursor can still read the segment that it has open.
            while let record = try behind.next() { seen = record.sequence }
        }
        #expect(seen < 30)
        #expect(throws: LogError.compacted(first: 31)) { try behind.next() }
        #expect(try ahead.next()?.sequence == 33)
        try log.append(Sample.commit(from: 34, count: 1))
        #expect(try ahead.next()?.sequence == 34)
    }

    @Test func `a compaction thins out older snapshots, and removes those whose following records no longer exist`()
        throws
    {
        let disk = SimulatedDisk()
        let log = try longLog(disk)
        for sequence in UInt64(34)...40 {
            try log.append(Sample.commit(from: sequence, count: 1))
            try SampleSnapshot.write(log)
        }
        #expect(try reader(disk).snapshots().map(\.sequence) == [31, 35, 36, 37, 38, 39, 40, 41])
        #expect(try log.compact(keepingFrom: 1).removedSnapshots == 2)
        let kept = try reader(disk).snapshots().map(\.sequence)
        #expect(kept.count == 6 && kept.first == 31 && kept.suffix(2) == [40, 41], "\(kept)")
        #expect(try log.compact(keepingFrom: .max).removedSnapshots == 5)
        #expect(try reader(disk).snapshots().map(\.sequence) == [41])
    }

    @Test func `compaction removes no records because of a damaged snapshot`() throws {
        let disk = SimulatedDisk()
        let log = try longLog(disk)
        disk[SampleSnapshot.path(31)][120] ^= 1
        #expect(try log.compact(keepingFrom: .max).snapshot == nil)
        #expect(try Sample.read(disk) == Sample.expected(1...33))
        try SampleSnapshot.write(log)
        disk[SampleSnapshot.path(34)][120] ^= 1
        #expect(try log.compact(keepingFrom: .max).removedSegments == 0)
    }

    @Test func `a damaged snapshot that the log does not need is reported at open and not used`() throws {
        let disk = SimulatedDisk()
        try longLog(disk).close()
        disk[SampleSnapshot.path(31)].removeLast()
        let (log, recovery) = try Sample.open(disk, small)
        #expect(recovery.snapshotDamages.map(\.path) == [SampleSnapshot.path(31)])
        #expect(recovery.description.contains(SampleSnapshot.path(31)))
        try log.append(Sample.commit(from: 34, count: 1))
        #expect(try Sample.read(disk) == Sample.expected(1...34))
    }

    @Test
    func `an older snapshot replaces a damaged newest one if the records after it exist`()
        throws
    {
        let disk = SimulatedDisk()
        let log = try longLog(disk)
        try SampleSnapshot.write(log)
        #expect(try log.compact(keepingFrom: 20).firstSequence > 1)
        log.close()
        disk[SampleSnapshot.path(34)][3] ^= 1
        let recovery = try Sample.open(disk, small).recovery
        #expect(recovery.nextSequence == 34 && recovery.snapshotDamages.map(\.path) == [SampleSnapshot.path(34)])
    }

    @Test func `a log that begins with a damaged snapshot is damaged, and the error names the snapshot`() throws {
        let disk = SimulatedDisk()
        let log = try longLog(disk)
        try log.compact(keepingFrom: .max)
        log.close()
        disk[SampleSnapshot.path(31)][3] ^= 1
        let expected = LogDamage(path: SampleSnapshot.path(31), offset: 0, fault: .wrongMagic, sequence: 31)
        #expect(throws: LogError.damaged(expected)) { try Sample.open(disk, small) }
        #expect(throws: LogError.damaged(expected)) { try reader(disk).records().next() }
        #expect(try LogVerification.verify(directory: Sample.directory, fileSystem: disk).damages == [expected])
        disk.erase(SampleSnapshot.path(31))
        let missing = LogDamage(path: Sample.segment(31), offset: 64, fault: .missingSegment, sequence: 31)
        #expect(throws: LogError.damaged(missing)) { try Sample.open(disk, small) }
        #expect(throws: LogError.damaged(missing)) { try reader(disk).records().next() }
    }

    @Test func `a log that ends before its snapshot is damaged, not torn`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        try log.append(Sample.commit(from: 1, count: 3))
        let size = disk[Sample.segment(1)].count
        try log.append(Sample.commit(from: 4, count: 1))
        try SampleSnapshot.write(log)
        log.close()
        disk.erase(Sample.segment(5))
        let whole = disk[Sample.segment(1)]
        for size in [size, size + 20] {
            disk[Sample.segment(1)] = Array(whole[..<size])
            #expect(throws: LogError.self, "\(size) of \(whole.count)") { try Sample.open(disk) }
            #expect(disk[Sample.segment(1)].count == size)
        }
        disk.erase(Sample.segment(1))
        #expect(throws: LogError.self) { try Sample.open(disk) }
    }

    @Test func `a snapshot of another store or another history is not used`() throws {
        let disk = SimulatedDisk()
        try longLog(disk).close()
        let other = SimulatedDisk()
        let log = try Sample.open(other, small).log
        try log.append(Sample.commit(from: 1001, count: 30))
        try SampleSnapshot.write(log)
        disk[SampleSnapshot.path(31)] = other[SampleSnapshot.path(31)]
        let (opened, recovery) = try Sample.open(disk, small)
        #expect(recovery.snapshotDamages.map(\.fault) == [.brokenChain])
        #expect(try opened.compact(keepingFrom: .max).snapshot == nil)
        opened.close()

        let third = SimulatedDisk()
        let foreign = try OperationLog.open(directory: Sample.directory, options: small, fileSystem: third).log
        try foreign.append(Sample.commit(from: 1, count: 30))
        try SampleSnapshot.write(foreign)
        disk[SampleSnapshot.path(31)] = third[SampleSnapshot.path(31)]
        #expect(throws: LogError.self) { try Sample.open(disk, small) }
    }
}
