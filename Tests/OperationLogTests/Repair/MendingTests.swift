import DiskSimulation
import Testing

@testable import OperationLog

/// Repair corrects a single changed bit without any loss.
@Suite struct MendingTests {
    static let keys: [[LogKey]] = [[], [Sample.key]]

    /// Returns a log with two sealed segments, one of them with columns, a snapshot, and a last segment that is not
    /// sealed.
    static func log(_ keys: [LogKey]) throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(sealing: .asWritten, segmentSize: 600, keys: keys)).log
        for sequence in UInt64(1)...12 { try log.append(Sample.commit(from: sequence, count: 1)) }
        try SampleSnapshot.write(log)
        for sequence in UInt64(13)...15 { try log.append(Sample.commit(from: sequence, count: 1)) }
        log.close()
        return disk
    }

    static func files(_ disk: SimulatedDisk) -> [String] {
        disk.paths.filter { $0.hasPrefix(Sample.directory + "/") && $0 != Sample.end }
    }

    static func objection(
        to disk: SimulatedDisk, _ keys: [LogKey], mended: [CorrectedBit]
    ) throws -> String? {
        let repair = LogRepair(directory: Sample.directory, keys: keys, fileSystem: disk)
        guard case .salvaged(let salvage, _) = try repair.inPlace(beforeSwap: {}) else { return "nothing to salvage" }
        guard salvage.mended == mended else { return "mended \(salvage.mended)" }
        guard salvage.lost.count == 0, salvage.passedOver.isEmpty else { return "\(salvage)" }
        guard try Sample.read(disk, keys: keys) == Sample.expected(1...15) else { return "other records" }
        let reader = try LogReader(directory: Sample.directory, keys: keys, fileSystem: disk)
        guard let snapshot = try reader.snapshots().last,
            try SampleSnapshot.read(disk, snapshot, keys: keys) == SampleSnapshot.items(13)
        else { return "no snapshot" }
        let report = try LogVerification.verify(directory: Sample.directory, keys: keys, fileSystem: disk)
        guard report.isSound, report.tail == nil else { return "\(report)" }
        let log = try Sample.open(disk, .init(keys: keys)).log
        log.close()
        return log.nextSequence == 16 ? nil : "it continues with \(log.nextSequence)"
    }

    @Test(arguments: keys)
    func `a changed bit of a trailer is corrected`(_ keys: [LogKey]) throws {
        let disk = try Self.log(keys)
        let path = Sample.segment(1)
        let offset = disk[path].count - 3
        disk[path][offset] ^= 4
        let mended = CorrectedBit(path: path, offset: UInt64(offset), bit: 2)
        #expect(try Self.objection(to: disk, keys, mended: [mended]) == nil)
    }

    @Test(arguments: keys)
    func `a changed bit in the header and in the payload of every block is corrected`(_ keys: [LogKey]) throws {
        let disk = try Self.log(keys)
        let last = Sample.segment(13)
        let magic = LogFormat.blockMagic
        let bytes = disk[last]
        let blocks = bytes.indices.dropLast(44).filter { bytes[$0..<$0 + 4].elementsEqual(magic) }
        #expect(blocks.count == 3)
        var mended: [CorrectedBit] = []
        for (index, block) in blocks.enumerated() {
            // One bit in the header of the first block, one in the payload of the second block, and both in the third
            // block.
            for offset in [[block + 9], [block + 50], [block + 9, block + 50]][index] {
                disk[last][offset] ^= 4
                mended.append(CorrectedBit(path: last, offset: UInt64(offset), bit: 2))
            }
        }
        #expect(try Self.objection(to: disk, keys, mended: mended) == nil)
    }

    @Test(arguments: keys)
    func `two changed bits of one structure are not corrected and lose as much as a damaged block`(_ keys: [LogKey])
        throws
    {
        let disk = try Self.log(keys)
        let last = Sample.segment(13)
        disk[last][disk[last].count - 3] ^= 1
        disk[last][disk[last].count - 5] ^= 1
        guard
            case .salvage(let salvage) = try LogRepair(
                directory: Sample.directory, keys: keys, fileSystem: disk
            ).plan()
        else {
            Issue.record("nothing to salvage")
            return
        }
        #expect(salvage.mended.isEmpty)
        #expect(salvage.lost.ranges == [15...15])
    }

    @Test func `a block with a matching checksum and a wrong tag is not corrected`() throws {
        let disk = try Self.log([Sample.key])
        let last = Sample.segment(13)
        let bytes = disk[last]
        let block = try #require(
            bytes.indices.dropLast(44).last { bytes[$0..<$0 + 4].elementsEqual(LogFormat.blockMagic) })
        // The checksums fit forged content, which differs in one bit from the stored content.
        disk[last][block + 60] ^= 0x18
        let header = BlockHeader.Layout.byteCount
        disk[last].store(crc32c(disk[last][(block + header)...]), BlockHeader.Layout.payloadChecksum, in: block)
        let segment = try SegmentFile(
            disk, directory: Sample.directory, firstSequence: 13, mode: .read, keys: [Sample.key])
        let covered = disk[last][block..<block + BlockHeader.Layout.checksum.offset]
        disk[last].store(
            crc32c(covered, continuing: segment.binding.checksum), BlockHeader.Layout.checksum, in: block)
        disk[last][block + 70] ^= 1
        guard
            case .salvage(let salvage) = try LogRepair(
                directory: Sample.directory, keys: [Sample.key], fileSystem: disk
            ).plan()
        else {
            Issue.record("nothing to salvage")
            return
        }
        #expect(salvage.mended.isEmpty)
        #expect(salvage.lost.ranges == [15...15])
    }

    @Test func `the damaged files are not changed`() throws {
        let disk = try Self.log([])
        disk[Sample.segment(1)][100] ^= 1
        let before = Self.files(disk).map { disk[$0] }
        let names = Self.files(disk).map { $0.replacing(Sample.directory, with: Sample.directory + ".damaged-1") }
        _ = try LogRepair(directory: Sample.directory, fileSystem: disk).inPlace {}
        #expect(names.map { disk[$0] } == before)
    }
}
