import DiskSimulation
import Testing

@testable import OperationLog

/// Segments with records in column form are read, sealed and verified like all other segments.
@Suite struct ColumnSegmentTests {
    /// The layout of ``Sample``'s payloads: the bytes before the number, then the rest as a fixed value.
    private static let layout = RecordLayout { _, payload, fields in
        guard payload.count > 12 else { return }
        fields.append(RecordField(.fixed, 10..<payload.count))
    }

    /// Returns records of one kind, as in most of a real log.
    private static func records(_ range: ClosedRange<UInt64>) -> [LogRecord] {
        range.map { LogRecord(sequence: $0, kind: 9, payload: Sample.payload($0)) }
    }

    /// Writes two sealed segments, recompressed into columns, and a part of a third. Returns the number of the last
    /// record.
    private func write(_ disk: SimulatedDisk, keys: [LogKey] = []) throws -> UInt64 {
        let options = OperationLog.Options(
            sealing: .repacked(level: 3), layout: Self.layout, segmentSize: 20_000, keys: keys)
        let log = try Sample.open(disk, options).log
        defer { log.close() }
        while SegmentName.sorted(try disk.list(Sample.directory)).count < 3 {
            try log.append(Self.records(log.nextSequence...log.nextSequence + 2).map { ($0.kind, $0.payload) })
        }
        #expect(try log.recompressSealedSegments(blockSize: 4_096) == 2)
        return log.nextSequence - 1
    }

    private func methods(_ disk: SimulatedDisk, keys: [LogKey] = []) throws -> [UInt8] {
        let segment = try SegmentFile(
            disk, directory: Sample.directory, firstSequence: 1, mode: .read, keys: keys)
        var position = segment.start
        var methods: [UInt8] = []
        while case .records(let block) = try segment.step(at: position) {
            methods.append(block.header.method)
            position = block.next
        }
        return methods
    }

    @Test(arguments: [[], [Sample.key]])
    func `all records are read from columns, from the beginning and from any record`(keys: [LogKey]) throws {
        let disk = SimulatedDisk(directories: ["/store"])
        let last = try write(disk, keys: keys)
        let methods = try methods(disk, keys: keys)
        #expect(methods.count > 2)
        #expect(methods.allSatisfy { $0 == BlockMethod.zstdColumns })
        #expect(try Sample.read(disk, keys: keys) == Self.records(1...last))
        for first in stride(from: UInt64(1), through: last, by: 37) {
            let record = try LogReader(directory: Sample.directory, keys: keys, fileSystem: disk).record(first)
            #expect(record.map { [$0] } == Self.records(first...first))
        }
    }

    @Test func `a segment of large commits is packed into columns once`() throws {
        let disk = SimulatedDisk(directories: ["/store"])
        let options = OperationLog.Options(
            compression: .stored, sealing: .repacked(level: 3), layout: Self.layout, segmentSize: 4_000)
        let log = try Sample.open(disk, options).log
        for first in stride(from: UInt64(1), to: 601, by: 200) {
            try log.append(Self.records(first...first + 199).map { ($0.kind, $0.payload) })
        }
        #expect(try log.recompressSealedSegments(blockSize: 8_000) == 2)
        #expect(try methods(disk).allSatisfy { $0 == BlockMethod.zstdColumns })
        #expect(try log.recompressSealedSegments(blockSize: 8_000) == 0)
        log.close()
        #expect(try Sample.read(disk) == Self.records(1...600))
    }

    @Test func `verification reports no damage in a segment of columns, and a writer appends after it`() throws {
        let disk = SimulatedDisk(directories: ["/store"])
        let last = try write(disk)
        let found = try LogVerification.verify(directory: Sample.directory, fileSystem: disk)
        #expect(found.damages.isEmpty)
        let log = try Sample.open(disk).log
        #expect(try log.append(Sample.commit(from: last + 1, count: 1)) == last + 1...last + 1)
    }

    @Test func `a block of columns that contradicts its header is damage`() throws {
        let disk = SimulatedDisk(directories: ["/store"])
        _ = try write(disk)
        let segment = try SegmentFile(disk, directory: Sample.directory, firstSequence: 1, mode: .read, keys: [])
        guard case .records(let block) = try segment.step(at: segment.start) else {
            Issue.record("the segment has no block")
            return
        }
        var decoder = BlockDecoder()
        var header = block.header
        header.recordCount -= 1
        #expect(throws: BlockDecodingError.self) { try decoder.decode(block.with(header)) }
        header = block.header
        header.flags.remove(.startsRun)
        #expect(throws: BlockDecodingError.self) { try decoder.decode(block.with(header)) }
    }
}

extension SegmentFile.Block {
    fileprivate func with(_ header: BlockHeader) -> SegmentFile.Block {
        SegmentFile.Block(header: header, offset: offset, payload: payload, cipher: cipher, next: next)
    }
}
