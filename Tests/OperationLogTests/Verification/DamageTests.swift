import DiskSimulation
import OperationLog
import SeededRandom
import Testing

/// Bits changed in the files of a log. Each change is detected or has no effect.
@Suite struct DamageTests {
    /// Returns the records that a reader returns, and whether it reached the end without an error.
    private func readable(_ disk: SimulatedDisk) throws -> (records: [LogRecord], isComplete: Bool) {
        var records: [LogRecord] = []
        do {
            let cursor = try LogReader(directory: Sample.directory, fileSystem: disk).records()
            while let record = try cursor.next() { records.append(record) }
            return (records, true)
        } catch {
            return (records, false)
        }
    }

    @Test(arguments: [OperationLog.Options.Compression.stored, .zstd(level: 3)])
    func `verification detects a flipped bit anywhere, and a reader never returns changed records`(
        compression: OperationLog.Options.Compression
    ) throws {
        let whole = SimulatedDisk()
        let options = OperationLog.Options(compression: compression, segmentSize: 300, runSize: 150)
        try Sample.write(whole, commits: [1, 2, 1, 1, 3, 1, 1, 1], options)
        let last: UInt64 = 11
        let expected = Sample.expected(1...last)
        let segments = whole.paths.filter { $0.hasSuffix(".segment") }
        #expect(segments.count > 2)
        var flips = 0
        for path in segments {
            let bytes = whole[path]
            for index in bytes.indices {
                for bit in 0..<8 {
                    let disk = whole.copy()
                    disk[path][index] ^= 1 << UInt8(bit)
                    let context = "\(path), byte \(index), bit \(bit)"
                    let (records, isComplete) = try readable(disk)
                    let report = try? LogVerification.verify(directory: Sample.directory, fileSystem: disk)
                    // Verification reports damage, throws, or reports a torn tail.
                    let isNoticed = report.map { !$0.isSound || $0.tail != nil } ?? true
                    #expect(isNoticed, "\(context)")
                    #expect(records == Array(expected.prefix(records.count)), "\(context)")
                    if isComplete, records.count < expected.count {
                        // Only the last commit can be mistaken for a torn one.
                        #expect(path == segments.last && report?.tail != nil, "\(context)")
                    }
                    if let (log, recovery) = try? Sample.open(disk, options) {
                        let kept = log.nextSequence - 1
                        #expect(kept == last || recovery.cut != nil, "\(context)")
                        _ = try? log.append(Sample.commit(from: kept + 1, count: 1))
                        let after = try readable(disk)
                        #expect(after.records == Array(Sample.expected(1...kept + 1).prefix(after.records.count)))
                    }
                    flips += 1
                }
            }
        }
        print("bits flipped: \(flips)")
    }

    @Test func `verification lists each damaged place and counts the readable records around it`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(runSize: 1)).log
        var ends = [disk[Sample.segment(1)].count]
        for sequence in UInt64(1)...20 {
            try log.append(Sample.commit(from: sequence, count: 1))
            ends.append(disk[Sample.segment(1)].count)
        }
        log.close()
        disk[Sample.segment(1)][ends[4] + 2] ^= 1
        disk[Sample.segment(1)][ends[9] + 50] ^= 1
        let report = try LogVerification.verify(directory: Sample.directory, fileSystem: disk)
        #expect(report.records == 18)
        #expect(report.damages.map(\.offset) == [UInt64(ends[4]), UInt64(ends[9])])
        #expect(report.damages.map(\.sequence) == [5, 10])
        #expect(report.damages.map(\.fault) == [.wrongMagic, .payloadChecksum])
    }

    @Test func `verification reports that a damaged block makes the rest of its run unreadable`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        var ends = [disk[Sample.segment(1)].count]
        for sequence in UInt64(1)...6 {
            try log.append(Sample.commit(from: sequence, count: 1))
            ends.append(disk[Sample.segment(1)].count)
        }
        log.close()
        disk[Sample.segment(1)][ends[2] + 50] ^= 1
        let report = try LogVerification.verify(directory: Sample.directory, fileSystem: disk)
        #expect(report.records == 2)
        #expect(report.damages.map(\.fault) == [.payloadChecksum, .runInterrupted, .runInterrupted, .runInterrupted])
    }

    @Test func `random bytes in place of a segment never trap`() throws {
        let seed = UInt64.testSeed()
        var generator = SeededRandom(seed: seed)
        let whole = SimulatedDisk()
        try Sample.write(whole, commits: Array(repeating: 1, count: 12), .init(segmentSize: 700, runSize: 200))
        let segments = whole.paths.filter { $0.hasSuffix(".segment") }
        for _ in 0..<500 {
            let disk = whole.copy()
            let path = try #require(segments.randomElement(using: &generator))
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let count = disk[path].count
                guard count > 8 else { break }
                let start = Int.random(in: 0..<count, using: &generator)
                let end = min(count, start + Int.random(in: 1...64, using: &generator))
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: disk[path].removeSubrange(start..<end)
                case 1: disk[path].insert(contentsOf: disk[path][start..<end], at: start)
                case 2: for index in start..<end { disk[path][index] = .random(in: 0 ... .max, using: &generator) }
                default: disk[path].removeLast(end - start)
                }
            }
            let (records, _) = try readable(disk)
            #expect(records == Sample.expected(1...12).prefix(records.count) + [], "seed \(seed)")
            _ = try? LogVerification.verify(directory: Sample.directory, fileSystem: disk)
            _ = try? Sample.open(disk)
        }
    }
}
