import DiskSimulation
import Testing

@testable import OperationLog

/// A log that was closed and then lost its end is damaged, for every kind of loss and for every operation that reaches
/// the end.
@Suite struct LostEndTests {
    /// A loss at the end of a log. `apply` returns the last record that is still readable.
    struct Loss: Sendable, CustomTestStringConvertible {
        let name: String
        let apply: @Sendable (SimulatedDisk) throws -> UInt64
        var testDescription: String { name }
    }

    private static let keys: [[LogKey]] = [[], [Sample.key]]

    /// Returns a log with segments that begin with the records 1, 7 and 13. Each commit has one record; the last
    /// segment has four commits.
    private static func log(_ keys: [LogKey]) throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(sealing: .asWritten, keys: keys)).log
        for sequence in UInt64(1)...16 {
            if sequence == 7 || sequence == 13 { try SampleSnapshot.write(log) }
            try log.append(Sample.commit(from: sequence, count: 1))
        }
        log.close()
        return disk
    }

    /// Returns the offsets of the blocks of the last segment, and the offset of its end.
    private static func places(_ disk: SimulatedDisk) -> [Int] {
        let bytes = disk[Sample.segment(13)]
        let magic = LogFormat.blockMagic
        return bytes.indices.dropLast(magic.count).filter { bytes[$0..<$0 + magic.count].elementsEqual(magic) } + [
            bytes.count
        ]
    }

    static let losses: [Loss] =
        (0...3).flatMap { block -> [Loss] in
            [
                Loss(name: "the file ends in front of block \(block)") { disk in
                    disk[Sample.segment(13)].removeLast(places(disk)[4] - places(disk)[block])
                    return 12 + UInt64(block)
                },
                Loss(name: "the file ends within block \(block)") { disk in
                    disk[Sample.segment(13)].removeLast(places(disk)[4] - places(disk)[block] - 30)
                    return 12 + UInt64(block)
                },
                Loss(name: "the file is zero from block \(block) on") { disk in
                    for index in places(disk)[block]..<places(disk)[4] { disk[Sample.segment(13)][index] = 0 }
                    return 12 + UInt64(block)
                },
            ]
        } + [
            Loss(name: "several bits of the last block changed") { disk in
                for offset in [4, 20, 60] { disk[Sample.segment(13)][places(disk)[3] + offset] ^= 0x5A }
                return 15
            },
            Loss(name: "several bits of the last two blocks changed") { disk in
                for offset in [4, 20, 60] {
                    for block in [2, 3] { disk[Sample.segment(13)][places(disk)[block] + offset] ^= 0x5A }
                }
                return 14
            },
            Loss(name: "the last segment is missing") { disk in
                disk.erase(Sample.segment(13))
                return 12
            },
            Loss(name: "the last segment and its snapshot are missing") { disk in
                disk.erase(Sample.segment(13))
                disk.erase(SampleSnapshot.path(13))
                return 12
            },
            Loss(name: "the last two segments and their snapshots are missing") { disk in
                for first in [7, 13] as [UInt64] {
                    disk.erase(Sample.segment(first))
                    disk.erase(SampleSnapshot.path(first))
                }
                return 6
            },
        ]

    private static func isDamage(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch LogError.damaged {
            return true
        } catch {
            return false
        }
    }

    @Test(arguments: losses, keys)
    func `writer, readers and verification report a log without its end as damaged and change nothing`(
        loss: Loss, keys: [LogKey]
    ) throws {
        let disk = try Self.log(keys)
        let last = try loss.apply(disk)
        let before = disk.paths.map { disk[$0] }
        #expect(Self.isDamage { try Sample.open(disk, .init(keys: keys)).log.close() })
        #expect(disk.paths.map { disk[$0] } == before)
        #expect(Self.isDamage { _ = try Sample.read(disk, keys: keys) })
        let reader = try LogReader(directory: Sample.directory, keys: keys, fileSystem: disk)
        #expect(Self.isDamage { _ = try reader.nextSequence() })
        // The records before the loss are still readable.
        #expect(try Sample.records(reader.records(from: 1, through: last)) == Sample.expected(1...last))
        for depth in [LogVerification.Depth.fast, .deep] {
            let report = try LogVerification.verify(
                directory: Sample.directory, keys: keys, depth: depth, fileSystem: disk)
            #expect(!report.isSound && report.tail == nil)
        }
    }

    @Test(arguments: losses, keys)
    func `a repair writes placeholders for lost records, and the log continues after them`(
        loss: Loss, keys: [LogKey]
    ) throws {
        let disk = try Self.log(keys)
        let last = try loss.apply(disk)
        let repair = LogRepair(directory: Sample.directory, keys: keys, fileSystem: disk)
        guard case .salvaged(let salvage, _) = try repair.inPlace(beforeSwap: {}) else {
            Issue.record("nothing was salvaged")
            return
        }
        #expect(salvage.lost.ranges == [last + 1...16])
        let log = try Sample.open(disk, .init(keys: keys)).log
        try log.append(Sample.commit(from: 17, count: 1))
        log.close()
        let records = try Sample.read(disk, keys: keys)
        #expect(records.filter { $0.kind != LogRepair.lostKind } == Sample.expected(1...last) + [Sample.record(17)])
        #expect(records.map(\.sequence) == Array(1...17))
        #expect(
            try LogVerification.verify(directory: Sample.directory, keys: keys, fileSystem: disk).isSound)
    }

    @Test(arguments: keys)
    func `a log that lost all segments is damaged, not new`(_ keys: [LogKey]) throws {
        let disk = try Self.log(keys)
        for path in disk.paths where path != Sample.end { disk.erase(path) }
        for creation in [OperationLog.Options.Creation.ifMissing, .never] {
            #expect(Self.isDamage { try Sample.open(disk, .init(creation: creation, keys: keys)).log.close() })
        }
        #expect(disk.paths == [Sample.end])
        #expect(Self.isDamage { _ = try LogReader(directory: Sample.directory, keys: keys, fileSystem: disk) })
        #expect(
            try !LogVerification.verify(directory: Sample.directory, keys: keys, fileSystem: disk).isSound)
        // Repair creates a log of placeholders with the same store identifier.
        _ = try LogRepair(directory: Sample.directory, keys: keys, fileSystem: disk).inPlace {}
        let log = try Sample.open(disk, .init(creation: .never, keys: keys)).log
        #expect(log.nextSequence == 17)
        log.close()
        #expect(
            try LogVerification.verify(directory: Sample.directory, keys: keys, fileSystem: disk).segments.allSatisfy {
                $0.isEncrypted != keys.isEmpty
            })
    }

    @Test(arguments: keys)
    func `after a kill, a missing segment and a tail that ends before the recorded end are detected`(
        _ keys: [LogKey]
    ) throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(sealing: .asWritten, keys: keys)).log
        for sequence in UInt64(1)...6 { try log.append(Sample.commit(from: sequence, count: 1)) }
        try SampleSnapshot.write(log)
        for sequence in UInt64(7)...9 { try log.append(Sample.commit(from: sequence, count: 1)) }
        let killed = disk.copy()
        let missing = killed.copy()
        missing.erase(Sample.segment(7))
        #expect(Self.isDamage { try Sample.open(missing, .init(keys: keys)).log.close() })
        // Opening records the current end.
        _ = try Sample.open(killed, .init(keys: keys))
        let cut = killed.copy()
        cut[Sample.segment(7)].removeLast(20)
        #expect(Self.isDamage { try Sample.open(cut, .init(keys: keys)).log.close() })
        log.close()
    }
}
