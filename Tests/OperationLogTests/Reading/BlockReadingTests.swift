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

    @Test func `a record whose rest follows other fields is a candidate of each search for whole records`() throws {
        // A number, and then the rest of the record, which no field describes.
        let records = (0..<100).map { place -> (kind: UInt8, payload: [UInt8]) in
            (3, [UInt8(place % 100), UInt8(place % 7), UInt8(place % 5)])
        }
        let layout = RecordLayout { _, _, fields in fields.append(RecordField(.number, 0..<1)) }
        var encoder = ColumnEncoder(layout)
        let raw = ColumnTests.raw(records)
        let encoded = encoder.encode(raw, recordCount: 100)
        let form = try #require(encoded)
        let block = try #require(ColumnBlock(form, firstSequence: 1, recordCount: 100, rawLength: raw.count))
        let search = ColumnSearch(
            numbers: IdentifierSet([]), values: [], isWanted: { _ in false }, isWantedWhole: { _, _ in true })
        var found = 0
        block.forEachCandidate(of: search) { _, _, _ in found += 1 }
        #expect(found == 100)
    }

    @Test func `records with the same fields share the steps of their columns`() throws {
        let records = (0..<100).map { place -> (kind: UInt8, payload: [UInt8]) in
            (3, [UInt8(place % 100), 1, 2, 3, UInt8(place % 7)])
        }
        let layout = RecordLayout { _, _, fields in
            fields += [RecordField(.number, 0..<1), RecordField(.fixed, 1..<4), RecordField(.number, 4..<5)]
        }
        var encoder = ColumnEncoder(layout)
        let encoded = encoder.encode(ColumnTests.raw(records), recordCount: 100)
        let form = try #require(encoded)
        // The form begins with the number of its steps.
        #expect(form[0] <= 4)
    }
}
