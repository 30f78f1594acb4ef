import DiskSimulation
import Testing

@testable import OperationLog

/// Blocks that searches read without decoding each record.
@Suite struct BlockReadingTests {
    /// Returns a reader of a log with 24 records in several segments.
    private func reader() throws -> LogReader {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: Array(repeating: 2, count: 12), .init(segmentSize: 400, runSize: 150))
        return try LogReader(directory: Sample.directory, fileSystem: disk)
    }

    @Test func `the records of raw blocks are those of the log`() throws {
        let cursor = try reader().records()
        var found: [LogRecord] = []
        while let block = try cursor.nextBlock() {
            guard case .raw(let raw) = block else { return #expect(Bool(false), "a log without columns") }
            raw.forEachRecord { sequence, kind, payload in
                found.append(LogRecord(sequence: sequence, kind: kind, payload: Array(raw.bytes[payload])))
            }
        }
        #expect(found == Sample.expected(1...24))
    }

    @Test func `a search for a header finds one that ends with the file`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [1, 1])
        let path = Sample.segment(1)
        let offset = try #require(Sample.blockOffsets(of: disk[path]).last)
        disk[path] = Array(disk[path].prefix(offset + BlockHeader.Layout.byteCount))
        let segment = try SegmentFile(
            disk, directory: Sample.directory, .segment, firstSequence: 1, mode: .read, keys: [])
        let found = try segment.nextHeader(after: UInt64(offset - 1)) { _ in true }
        #expect(found?.offset == UInt64(offset))
    }

    @Test func `the parts of a log follow each other without gaps`() throws {
        let parts = try reader().parts(ofAbout: 4)
        #expect(parts.count > 2)
        #expect(parts.first?.lowerBound == 1 && parts.last?.upperBound == .max)
        for (part, next) in zip(parts, parts.dropFirst()) { #expect(part.upperBound + 1 == next.lowerBound) }
    }

    @Test func `a reader refuses a segment of another log with the expected name`() throws {
        let other = StoreIdentifier(bytes: Array(2...17))!
        let disks = try [Sample.store, other].map { store in
            let disk = SimulatedDisk()
            let options = OperationLog.Options(segmentSize: 700, storeIdentifier: store)
            let log = try OperationLog.open(directory: Sample.directory, options: options, fileSystem: disk).log
            for sequence in UInt64(1)...24 { try log.append(Sample.commit(from: sequence, count: 1)) }
            log.close()
            return disk
        }
        let second = try #require(disks[0].paths.filter { $0.hasSuffix(".segment") }.sorted().dropFirst().first)
        disks[0][second] = disks[1][second]
        #expect(throws: LogError.otherStore(path: second, expected: Sample.store, found: other)) {
            try Sample.read(disks[0])
        }
    }

    @Test func `the header of an encrypted segment has the mark of its key`() {
        let header = SegmentHeader(storeIdentifier: Sample.store, firstSequence: 1, chain: 0, key: Sample.key)
        #expect(header.isMarked(with: [Sample.key]))
        #expect(!header.isMarked(with: [Sample.otherKey]))
    }
}
