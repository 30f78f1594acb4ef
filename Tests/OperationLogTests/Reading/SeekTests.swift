import DiskSimulation
import SeededRandom
import Testing

@testable import OperationLog

/// The number of bytes that a reader reads to find a record. It must not grow with the log.
@Suite struct SeekTests {
    private static let options = OperationLog.Options(
        durability: .none, sealing: .asWritten, segmentSize: 60_000, runSize: 20_000)

    private func log(records: Int) throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, Self.options).log
        while log.nextSequence <= records { try log.append(Sample.commit(from: log.nextSequence, count: 10)) }
        log.close()
        return disk
    }

    /// Returns the largest number of bytes that one of the seeks reads.
    private func bytesRead(_ disk: SimulatedDisk, _ sequences: some Sequence<UInt64>) throws -> Int {
        let reader = try LogReader(directory: Sample.directory, fileSystem: disk)
        var most = 0
        for sequence in sequences {
            let before = disk.bytesRead
            #expect(try reader.record(sequence) == Sample.record(sequence))
            most = max(most, disk.bytesRead - before)
        }
        return most
    }

    @Test func `a seek reads the ends and one run of one segment, regardless of the length of the log`() throws {
        var most: [Int] = []
        for records in [2000, 8000, 32_000] {
            let disk = try log(records: records)
            most.append(
                try bytesRead(disk, stride(from: UInt64(1), through: UInt64(records), by: max(1, records / 200))))
        }
        print("most bytes that a seek reads, in logs of 2000, 8000 and 32000 records: \(most)")
        // A seek reads the header, the trailer, the footer and a run. Each read is at most as large as a segment.
        #expect(most.allSatisfy { $0 <= 4 * 64_000 })
        #expect(most[2] <= most[0] + most[0] / 10)
    }

    @Test func `the segment of a record is found by binary search`() {
        let names = (0..<1000).map { SegmentName.name(firstSequence: UInt64($0) * 10 + 1) }
        var random = SeededRandom(seed: .testSeed())
        let listing = LogListing(names.shuffled(using: &random))
        for sequence in UInt64(1)...10_000 {
            #expect(listing.segment(holding: sequence) == (sequence - 1) / 10 * 10 + 1)
        }
        #expect(listing.segment(holding: 0) == nil)
        #expect(listing.segment(holding: .max) == 9991)
    }

    @Test func `a reader with an open segment continues after another file replaces it`() throws {
        let disk = try log(records: 3000)
        let reader = try LogReader(directory: Sample.directory, fileSystem: disk)
        let cursor = reader.records()
        for sequence in UInt64(1)...5 { #expect(try cursor.next() == Sample.record(sequence)) }
        let options = OperationLog.Options(sealing: .repacked(level: 5))
        let (log, _) = try Sample.open(disk, options)
        #expect(try log.recompressSealedSegments(blockSize: 4000) > 0)
        log.close()
        #expect(try Sample.records(cursor) == Sample.expected(6...3000))
        #expect(try Sample.records(reader.records(from: 1234)) == Sample.expected(1234...3000))
    }
}
