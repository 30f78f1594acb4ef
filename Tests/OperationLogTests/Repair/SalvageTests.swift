import DiskSimulation
import Testing

@testable import OperationLog

/// Repair saves all readable records of a damaged log under their sequence numbers, and no other records.
@Suite struct SalvageTests {
    static let options = OperationLog.Options(sealing: .asWritten, segmentSize: 400, runSize: 150)

    private func log(_ commits: [Int] = Array(repeating: 2, count: 12)) throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: commits, Self.options)
        return disk
    }

    private func repair(_ disk: SimulatedDisk) -> LogRepair {
        LogRepair(directory: Sample.directory, fileSystem: disk)
    }

    private func salvaged(_ disk: SimulatedDisk) throws -> RepairPlan.Salvage {
        guard case .salvage(let salvage) = try repair(disk).plan() else {
            throw Unexpected(description: "there is nothing to salvage")
        }
        #expect(try repair(disk).salvage(to: "/store/new") == salvage)
        return salvage
    }

    /// Returns the records of the new log, and the numbers of the lost records.
    private func read(_ disk: SimulatedDisk) throws -> (records: [LogRecord], lost: [UInt64]) {
        let records = try Sample.records(LogReader(directory: "/store/new", fileSystem: disk).records())
        let isLost = { (record: LogRecord) in record.kind == LogRepair.lostKind && record.payload.isEmpty }
        return (records.filter { !isLost($0) }, records.filter(isLost).map(\.sequence))
    }

    /// Expects that each record has the content that was written under its number or is a placeholder.
    private func expectSound(_ disk: SimulatedDisk, _ salvage: RepairPlan.Salvage, last: UInt64 = 24) throws {
        #expect(try LogVerification.verify(directory: "/store/new", fileSystem: disk).isSound)
        let (records, lost) = try read(disk)
        #expect(records == records.map { Sample.record($0.sequence) })
        #expect(lost == salvage.lost.ranges.flatMap { Array($0) })
        #expect(UInt64(records.count) == salvage.readable)
        #expect(UInt64(records.count + lost.count) == last)
    }

    struct Unexpected: Error, CustomStringConvertible { let description: String }

    private func segments(_ disk: SimulatedDisk) -> [String] {
        disk.paths.filter { $0.hasPrefix(Sample.directory + "/") && $0.hasSuffix(".segment") }
    }

    // MARK: Plans

    @Test func `a sound log needs no repair, and a torn log needs only to be opened`() throws {
        let disk = try log()
        #expect(try repair(disk).plan() == .nothing)
        let last = try #require(segments(disk).last)
        disk[last].removeLast(3)
        Sample.forgetEnd(disk)
        guard case .tornTail(let tail) = try repair(disk).plan() else { return #expect(Bool(false)) }
        #expect(tail.path == last)
        let before = disk[last]
        #expect(try LogRepair(directory: Sample.directory, fileSystem: disk).inPlace {} != .nothing)
        #expect(disk[last].count < before.count)
    }

    @Test func `a plan and a salvage do not change the damaged log`() throws {
        let disk = try log()
        disk[segments(disk)[1]][200] ^= 1
        let before = segments(disk).map { disk[$0] }
        _ = try salvaged(disk)
        #expect(segments(disk).map { disk[$0] } == before)
    }

    // MARK: Damage

    @Test func `a damaged block loses the rest of its run, and all other records keep their numbers`() throws {
        let disk = try log()
        let path = segments(disk)[0]
        let offsets = Sample.blockOffsets(of: disk[path])
        disk[path][offsets[0] + 50] ^= 0x5A
        let salvage = try salvaged(disk)
        #expect(salvage.lost.ranges.first?.lowerBound == 1)
        #expect(salvage.lost.count < 8)
        try expectSound(disk, salvage)
    }

    @Test func `a damaged footer or trailer loses no record`() throws {
        for back in [1, 20] {
            let disk = try log()
            let path = segments(disk)[1]
            disk[path][disk[path].count - back] ^= 1
            let salvage = try salvaged(disk)
            #expect(salvage.lost.count == 0)
            try expectSound(disk, salvage)
        }
    }

    @Test func `a segment's header is restored after damage to any of its bytes`() throws {
        let whole = try log()
        for index in 0..<64 {
            let disk = whole.copy()
            disk[segments(disk)[1]][index] ^= 0x5A
            let salvage = try salvaged(disk)
            #expect(salvage.lost.count == 0, "byte \(index)")
            try expectSound(disk, salvage)
        }
    }

    @Test func `an erased header is rebuilt from the other segments`() throws {
        let disk = try log()
        for index in 0..<64 { disk[segments(disk)[1]][index] = 0 }
        let salvage = try salvaged(disk)
        #expect(salvage.lost.count == 0)
        try expectSound(disk, salvage)
    }

    @Test func `a missing segment loses exactly its own records`() throws {
        let whole = try log()
        for (index, path) in segments(whole).enumerated().dropLast() {
            let disk = whole.copy()
            let next = try #require(SegmentName.firstSequence(of: String(segments(disk)[index + 1].suffix(28))))
            let first = try #require(SegmentName.firstSequence(of: String(path.suffix(28))))
            disk.erase(path)
            let salvage = try salvaged(disk)
            #expect(salvage.lost.ranges == [first...next - 1])
            try expectSound(disk, salvage)
        }
    }

    @Test func `segments with swapped names are ordered by their content`() throws {
        let disk = try log()
        let (a, b) = (segments(disk)[0], segments(disk)[1])
        let bytes = disk[a]
        disk[a] = disk[b]
        disk[b] = bytes
        let salvage = try salvaged(disk)
        #expect(salvage.lost.count == 0)
        try expectSound(disk, salvage)
    }

    @Test func `blocks that are repeated or in the wrong order are put in order`() throws {
        let whole = try log()
        let path = segments(whole)[0]
        let offsets = Sample.blockOffsets(of: whole[path])
        let blocks = (0..<3).map { Array(whole[path][offsets[$0]..<offsets[$0 + 1]]) }
        let rest = Array(whole[path][offsets[3]...])
        let head = Array(whole[path][..<offsets[0]])
        for order in [
            [0, 0, 1, 2], [0, 1, 0, 2], [0, 1, 1, 2], [1, 0, 2], [2, 1, 0], [0, 2, 1], [0, 1, 0, 1, 2],
        ] {
            let disk = whole.copy()
            disk[path] = head + order.flatMap { blocks[$0] } + rest
            let salvage = try salvaged(disk)
            #expect(salvage.lost.count == 0, "\(order)")
            try expectSound(disk, salvage)
        }
    }

    @Test func `a segment of another store is skipped and reported, also in the first position`() throws {
        let disk = try log()
        let other = SimulatedDisk()
        var options = Self.options
        options.storeIdentifier = StoreIdentifier(bytes: Array(2...17))
        let writer = try OperationLog.open(directory: Sample.directory, options: options, fileSystem: other).log
        for _ in 1...4 { try writer.append([(kind: 9, payload: Array("not ours".utf8))]) }
        writer.close()
        disk[Sample.segment(1)] = other[Sample.segment(1)]
        let salvage = try salvaged(disk)
        #expect(salvage.passedOver.map(\.path) == [Sample.segment(1)])
        try expectSound(disk, salvage)
    }

    @Test func `records of another history of the same store are skipped`() throws {
        // A backup of the log was written to separately, and one of its segments was copied back.
        let disk = try log()
        let branch = SimulatedDisk()
        // The segment is longer than those of the log, and all of its blocks can be read alone.
        let options = OperationLog.Options(sealing: .asWritten, segmentSize: 800, runSize: 1)
        let writer = try Sample.open(branch, options).log
        for number in UInt64(1)...23 { try writer.append([(kind: 9, payload: Sample.payload(number + 1_000))]) }
        writer.close()
        let copied = try #require(segments(branch).dropFirst().first { disk[$0].isEmpty })
        disk[copied] = branch[copied]
        let salvage = try salvaged(disk)
        #expect(!salvage.passedOver.isEmpty)
        #expect(salvage.lost.count == 0)
        try expectSound(disk, salvage)
    }

    @Test func `an incomplete commit at the end of a damaged log does not count as lost`() throws {
        let disk = try log()
        disk[segments(disk)[0]][80] ^= 1
        let last = try #require(segments(disk).last)
        disk[last].removeLast(3)
        Sample.forgetEnd(disk)
        let salvage = try salvaged(disk)
        try expectSound(disk, salvage, last: 22)
    }

    @Test func `a record that does not decode counts as lost`() throws {
        let disk = try log()
        let repair = LogRepair(
            directory: Sample.directory, check: { $0.sequence == 5 ? "no" : nil }, fileSystem: disk)
        let salvage = try repair.salvage(to: "/store/new")
        #expect(salvage.lost.ranges == [5...5])
        try expectSound(disk, salvage)
    }

    @Test func `an implausible number in an intact header does not fill the disk`() throws {
        let disk = try log()
        let path = segments(disk)[1]
        let offset = Sample.blockOffsets(of: disk[path])[0]
        disk[path].store(UInt64(1) << 60, BlockHeader.Layout.firstSequence, in: offset)
        Forger.fitChecksums(ofBlockAt: offset, in: &disk[path])
        let salvage = try salvaged(disk)
        #expect(salvage.nextSequence == 25)
        try expectSound(disk, salvage)
    }

    @Test func `the salvage of an encrypted log is encrypted`() throws {
        let key = LogKey.random()
        let disk = SimulatedDisk()
        var options = Self.options
        options.keys = [key]
        try Sample.write(disk, commits: Array(repeating: 2, count: 12), options)
        disk[segments(disk)[0]][200] ^= 0x5A
        let repair = LogRepair(directory: Sample.directory, keys: [key], fileSystem: disk)
        let salvage = try repair.salvage(to: "/store/new")
        #expect(salvage.lost.count > 0)
        let report = try LogVerification.verify(directory: "/store/new", keys: [key], fileSystem: disk)
        #expect(report.isSound && report.segments.allSatisfy(\.isEncrypted))
        #expect(throws: LogError.keyRequired(path: Sample.segment(1))) {
            try LogRepair(directory: Sample.directory, fileSystem: disk).plan()
        }
    }

    // MARK: Snapshots

    /// Returns a log with twenty records, a snapshot, and ten more records.
    private func logWithSnapshot() throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, Self.options).log
        for sequence in UInt64(1)...20 { try log.append(Sample.commit(from: sequence, count: 1)) }
        _ = try log.writeSnapshot { snapshot in
            for item in UInt8(1)...5 { try snapshot.add(kind: item, payload: [item, item]) }
        }
        for sequence in UInt64(21)...30 { try log.append(Sample.commit(from: sequence, count: 1)) }
        log.close()
        return disk
    }

    private func items(_ disk: SimulatedDisk, _ sequence: UInt64) throws -> [[UInt8]] {
        let reader = try LogReader(directory: "/store/new", fileSystem: disk)
        let file = try #require(try reader.snapshots().first { $0.sequence == sequence })
        let cursor = try reader.snapshot(file)
        var items: [[UInt8]] = []
        while let item = try cursor.next() { items.append([item.kind] + item.bytes) }
        return items
    }

    @Test func `a snapshot after the lost records is kept, and the state is complete`() throws {
        let disk = try logWithSnapshot()
        disk[segments(disk)[0]][120] ^= 0x5A
        let salvage = try salvaged(disk)
        #expect(salvage.lost.count > 0 && salvage.isStateWhole)
        #expect(salvage.snapshots == [21])
        #expect(try items(disk, 21) == (1...5).map { [$0, $0, $0] })
        try expectSound(disk, salvage, last: 30)
    }

    @Test func `a damaged snapshot is skipped and loses no record`() throws {
        let disk = try logWithSnapshot()
        let path = try #require(disk.paths.first { $0.hasSuffix(".snapshot") })
        disk[path][100] ^= 0x5A
        #expect(try !LogVerification.verify(directory: Sample.directory, fileSystem: disk).isSound)
        #expect(try !LogVerification.verify(directory: Sample.directory, depth: .fast, fileSystem: disk).isSound)
        let salvage = try salvaged(disk)
        #expect(salvage.passedOver.map(\.path) == [path])
        #expect(salvage.snapshots.isEmpty && salvage.lost.count == 0)
        try expectSound(disk, salvage, last: 30)
    }

    @Test func `a log that begins with a snapshot still begins there after its first segments are lost`() throws {
        let disk = try logWithSnapshot()
        // Removes all segments before the snapshot, as a compaction does, and the segment that begins with it.
        for path in segments(disk) where try #require(SegmentName.firstSequence(of: String(path.suffix(28)))) <= 21 {
            disk.erase(path)
        }
        let salvage = try salvaged(disk)
        #expect(salvage.firstSequence == 21)
        #expect(salvage.lost.ranges.map(\.lowerBound) == [21])
        #expect(try LogVerification.verify(directory: "/store/new", fileSystem: disk).isSound)
        #expect(try LogReader(directory: "/store/new", fileSystem: disk).firstSequence() == 21)
        let log = try OperationLog.open(directory: "/store/new", fileSystem: disk).log
        #expect(log.nextSequence == 31)
        log.close()
    }

    @Test func `a log whose last segments are lost continues at its snapshot, and the state is complete`() throws {
        let disk = try logWithSnapshot()
        for path in segments(disk) where try #require(SegmentName.firstSequence(of: String(path.suffix(28)))) > 5 {
            disk.erase(path)
        }
        Sample.forgetEnd(disk)
        let salvage = try salvaged(disk)
        #expect(salvage.nextSequence == 21)
        #expect(salvage.isStateWhole)
        #expect(try LogVerification.verify(directory: "/store/new", fileSystem: disk).isSound)
    }
}
