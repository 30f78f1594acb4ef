import DiskSimulation
import OperationLog
import Testing

@Suite struct RecoveryTests {
    private let first = Sample.segment(1)

    @Test func `a tail that is torn at any byte is cut after the last complete commit, and the cut is reported`() throws
    {
        let whole = SimulatedDisk()
        try Sample.write(whole, commits: [2, 1])
        let kept = whole[first].count
        try Sample.write(whole, commits: [3])
        let all = whole[first]
        for size in kept...all.count {
            let disk = SimulatedDisk(directories: ["/store", Sample.directory])
            disk[first] = Array(all[..<size])
            let (log, recovery) = try Sample.open(disk)
            let isWhole = size == all.count
            #expect(log.nextSequence == (isWhole ? 7 : 4))
            #expect(recovery.cut?.bytes == (isWhole || size == kept ? nil : UInt64(size - kept)))
            #expect(recovery.cut?.offset == (isWhole || size == kept ? nil : UInt64(kept)))
            #expect(disk[first].count == (isWhole ? size : kept))
        }
    }

    @Test func `zeroes after the last commit are cut`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [2])
        disk[first] += [UInt8](repeating: 0, count: 5000)
        let (log, recovery) = try Sample.open(disk)
        #expect(recovery.cut?.bytes == 5000 && recovery.cut?.reason == .zeroes)
        #expect(log.nextSequence == 3)
    }

    @Test func `a commit in several blocks is cut completely if its last block is missing`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        try log.append(Sample.commit(from: 1, count: 1))
        let kept = disk[first].count
        try log.append(Sample.commit(from: 2, count: 4, size: 700_000))
        log.close()
        let report = try LogVerification.verify(directory: Sample.directory, fileSystem: disk)
        #expect(report.blocks == 5)
        // Only the last block of the commit is torn.
        disk[first].removeLast(10)
        Sample.forgetEnd(disk)
        let torn = try LogVerification.verify(directory: Sample.directory, fileSystem: disk)
        #expect(torn.isSound && torn.tail?.offset == UInt64(kept))
        #expect(try Sample.read(disk) == Sample.expected(1...1))
        let recovery = try Sample.open(disk).recovery
        #expect(recovery.nextSequence == 2 && recovery.cut?.offset == UInt64(kept))
    }

    @Test func `a changed byte before a durable commit is damage, and nothing is cut`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [1, 1])
        let offset = disk[first].count
        try Sample.write(disk, commits: [1, 1, 1])
        disk[first][offset + 50] ^= 1
        let before = disk[first]
        let damage = LogDamage(path: first, offset: UInt64(offset), fault: .payloadChecksum, sequence: 3)
        #expect(throws: LogError.damaged(damage)) { try Sample.open(disk) }
        #expect(disk[first] == before)
        #expect(damage.description.contains("Nothing was changed."))
        #expect(damage.description.contains("\(first) is damaged at offset \(offset)"))
    }

    @Test func `unsynced blocks that a crash left incomplete are a torn tail`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: .none)).log
        try log.append(Sample.commit(from: 1, count: 1))
        try log.sync()
        let kept = disk[first].count
        for sequence in UInt64(2)...4 { try log.append(Sample.commit(from: sequence, count: 1)) }
        log.close()
        // The first of three unsynced commits is missing. Only this commit stated that all commits before it are
        // durable.
        let blocks = disk[first]
        let size = (blocks.count - kept) / 3
        for index in kept..<kept + size { disk[first][index] = 0 }
        let recovery = try Sample.open(disk).recovery
        #expect(recovery.nextSequence == 2 && recovery.cut?.offset == UInt64(kept))
    }

    @Test func `records that a killed process did not sync are durable after the log opens`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: .none)).log
        try log.append(Sample.commit(from: 1, count: 3))
        log.close()
        let (next, _) = try Sample.open(disk)
        #expect(next.durableSequence == 3)
        #expect(try Sample.read(disk.withoutUnsynced()) == Sample.expected(1...3))
    }

    @Test func `a missing segment is damage`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: Array(repeating: 1, count: 30), .init(segmentSize: 500))
        let segments = disk.paths.filter { $0.hasSuffix(".segment") }
        #expect(segments.count > 3)
        for missing in [segments[0], segments[1]] {
            let copy = disk.copy()
            copy.erase(missing)
            #expect { try Sample.open(copy) } throws: { error in
                guard case LogError.damaged(let damage) = error else { return false }
                return damage.fault == .missingSegment
            }
            #expect(throws: LogError.self) { try Sample.read(copy) }
            #expect(try !LogVerification.verify(directory: Sample.directory, fileSystem: copy).isSound)
        }
    }

    @Test func `a truncated segment before another segment is damage`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: Array(repeating: 1, count: 30), .init(segmentSize: 500))
        disk[first].removeLast(60)
        #expect { try Sample.open(disk) } throws: { error in
            guard case LogError.damaged(let damage) = error else { return false }
            return damage.path == first
        }
    }

    @Test func `a removed, repeated or moved block is detected`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(compression: .stored)).log
        var ends = [disk[first].count]
        for sequence in UInt64(1)...5 {
            try log.append(Sample.commit(from: sequence, count: 1))
            ends.append(disk[first].count)
        }
        log.close()
        let bytes = disk[first]
        let blocks = (0..<5).map { Array(bytes[ends[$0]..<ends[$0 + 1]]) }
        for order in [[0, 2, 3, 4], [0, 1, 1, 2, 3, 4], [0, 2, 1, 3, 4], [4, 0, 1, 2, 3]] {
            let copy = disk.copy()
            copy[first] = Array(bytes[..<ends[0]]) + order.flatMap { blocks[$0] }
            #expect(throws: LogError.self, "\(order)") { try Sample.open(copy) }
            #expect(throws: LogError.self, "\(order)") { try Sample.read(copy) }
            #expect(try !LogVerification.verify(directory: Sample.directory, fileSystem: copy).isSound, "\(order)")
        }
    }

    @Test func `a block of another log is not accepted`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [1, 1], .init(compression: .stored))
        let other = SimulatedDisk()
        let log = try OperationLog.open(
            directory: Sample.directory, options: .init(compression: .stored), fileSystem: other
        ).log
        try log.append(Sample.commit(from: 1, count: 1))
        try log.append(Sample.commit(from: 2, count: 1))
        log.close()
        #expect(disk[first].count == other[first].count)
        let half = 64 + (disk[first].count - 64) / 2
        disk[first].replaceSubrange(half..., with: other[first][half...])
        Sample.forgetEnd(disk)
        let recovery = try Sample.open(disk).recovery
        #expect(recovery.nextSequence == 2 && recovery.cut?.reason == .headerChecksum)
    }

    @Test func `a block from a diverged copy of the log is detected`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [1], .init(compression: .stored))
        let copy = disk.copy()
        let start = disk[first].count
        // The segment headers and sequence numbers are equal, but the content differs.
        for (disk, letter) in [(disk, UInt8(0x61)), (copy, 0x62)] {
            let log = try Sample.open(disk, .init(compression: .stored)).log
            for _ in 0..<2 { try log.append([(kind: 1, payload: [letter, letter, letter])]) }
            log.close()
        }
        let half = start + (disk[first].count - start) / 2
        disk[first].replaceSubrange(half..., with: copy[first][half...])
        let damage = LogDamage(path: first, offset: UInt64(half), fault: .brokenChain, sequence: 3)
        #expect(throws: LogError.damaged(damage)) { try Sample.open(disk) }
        #expect(throws: LogError.damaged(damage)) { try Sample.read(disk) }
        let report = try LogVerification.verify(directory: Sample.directory, fileSystem: disk)
        #expect(report.damages.map(\.fault) == [.brokenChain])
    }

    @Test func `an unfinished segment is removed`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [1])
        disk[Sample.segment(2) + ".new"] = [1, 2, 3]
        let recovery = try Sample.open(disk).recovery
        #expect(recovery.removedFiles == ["00000000000000000002.segment.new"])
        #expect(!disk.paths.contains(Sample.segment(2) + ".new"))
    }
}
