import DiskSimulation
import SeededRandom
import Testing

@testable import OperationLog

/// Recompression of sealed segments.
@Suite struct RepackTests {
    /// The size of a block, so small that a short log has several blocks in a segment.
    static let blockSize = 600
    static let options = OperationLog.Options(sealing: .repacked(level: 9), segmentSize: 1500, runSize: 400)

    /// Returns a disk with a log of several sealed segments and an open one.
    static func filledDisk(_ options: OperationLog.Options = options) throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: Array(repeating: 1, count: 60), options)
        return disk
    }

    private func verified(_ disk: SimulatedDisk, keys: [LogKey] = []) throws -> LogVerification {
        try LogVerification.verify(directory: Sample.directory, keys: keys, fileSystem: disk)
    }

    @Test(arguments: [[], [LogKey(Array(1...32))!]])
    func `packing keeps the records, their numbers and the chain, in fewer blocks and bytes`(keys: [LogKey]) throws {
        var options = Self.options
        options.keys = keys
        let disk = try Self.filledDisk(options)
        let before = try verified(disk, keys: keys)
        let log = try Sample.open(disk, options).log
        let count = try log.recompressSealedSegments(blockSize: Self.blockSize)
        #expect(count == before.segments.count - 1 && count > 2)
        let after = try verified(disk, keys: keys)
        #expect(after.isSound && after.tail == nil && after.records == 60)
        #expect(after.segments.map(\.firstSequence) == before.segments.map(\.firstSequence))
        for (old, new) in zip(before.segments, after.segments).dropLast() {
            #expect(new.isSealed && new.records == old.records && new.rawBytes == old.rawBytes)
            #expect(new.blocks < old.blocks && new.fileBytes < old.fileBytes)
        }
        #expect(try Sample.read(disk, keys: keys) == Sample.expected(1...60))
        #expect(try Sample.read(disk, from: 17, keys: keys) == Sample.expected(17...60))
        try log.append(Sample.commit(from: 61, count: 3))
        log.close()
        #expect(try Sample.open(disk, options).recovery.nextSequence == 64)
        #expect(try Sample.read(disk, keys: keys) == Sample.expected(1...63))
    }

    @Test func `a packed segment is not packed again`() throws {
        let disk = try Self.filledDisk()
        let log = try Sample.open(disk, Self.options).log
        #expect(try log.recompressSealedSegments(blockSize: Self.blockSize) > 0)
        let calls = disk.calls
        #expect(try log.recompressSealedSegments(blockSize: Self.blockSize) == 0)
        #expect(disk.calls == calls)
    }

    @Test func `the last segment is not packed, and neither is a log that is sealed as written`() throws {
        let disk = try Self.filledDisk()
        var options = Self.options
        let last = try #require(disk.paths.last { $0.hasSuffix(".segment") })
        let bytes = disk[last]
        let log = try Sample.open(disk, options).log
        try log.recompressSealedSegments(blockSize: Self.blockSize)
        log.close()
        #expect(disk[last] == bytes)
        options.sealing = .asWritten
        let other = try Self.filledDisk(options)
        #expect(try Sample.open(other, options).log.recompressSealedSegments(blockSize: Self.blockSize) == 0)
    }

    @Test func `a log that is sealed as written is packed on request`() throws {
        var options = Self.options
        options.sealing = .asWritten
        let disk = try Self.filledDisk(options)
        let before = try verified(disk)
        let log = try Sample.open(disk, options).log
        #expect(try log.recompressSealedSegments(level: 1, blockSize: Self.blockSize) > 0)
        let after = try verified(disk)
        #expect(after.isSound && after.records == before.records)
        #expect(after.segments.map(\.blocks).reduce(0, +) < before.segments.map(\.blocks).reduce(0, +))
    }

    @Test func `a reader in the middle of the old file continues to the end`() throws {
        let disk = try Self.filledDisk()
        let log = try Sample.open(disk, Self.options).log
        let cursor = try LogReader(directory: Sample.directory, fileSystem: disk).records()
        var records: [LogRecord] = []
        for _ in 0..<5 { records.append(try #require(try cursor.next())) }
        try log.recompressSealedSegments(blockSize: Self.blockSize)
        while let record = try cursor.next() { records.append(record) }
        #expect(records == Sample.expected(1...60))
    }

    @Test func `a damaged segment is reported, and neither packed nor changed`() throws {
        let disk = try Self.filledDisk()
        disk[Sample.segment(1)][200] ^= 1
        let bytes = disk[Sample.segment(1)]
        let log = try Sample.open(disk, Self.options).log
        #expect {
            try log.recompressSealedSegments(blockSize: Self.blockSize)
        } throws: { error in
            guard case LogError.damaged(let damage) = error else { return false }
            return damage.path == Sample.segment(1)
        }
        #expect(disk[Sample.segment(1)] == bytes)
        #expect(!disk.paths.contains { $0.hasSuffix(".new") })
        try log.append(Sample.commit(from: 61, count: 1))
    }

    @Test func `a segment that was removed during packing is not created again`() throws {
        let disk = try Self.filledDisk()
        let repack = SegmentRecompression(
            fileSystem: disk, directory: Sample.directory, keys: [], level: 3, layout: nil, blockSize: Self.blockSize)
        let outcome = try repack.run(1) { _, _ throws(FileSystemError) in false }
        #expect(outcome == .abandoned)
        #expect(!disk.paths.contains { $0.hasSuffix(".new") })
    }

    @Test func `abandoned packing leaves the segment unchanged and no files`() throws {
        let disk = try Self.filledDisk()
        let bytes = disk[Sample.segment(1)]
        let repack = SegmentRecompression(
            fileSystem: disk, directory: Sample.directory, keys: [], level: 3, layout: nil, blockSize: Self.blockSize)
        var questions = 0
        let outcome = try repack.run(1) {
            questions += 1
            return questions < 4
        } replace: { _, _ throws(FileSystemError) in
            Issue.record("an unfinished file was put in the place of a whole one")
            return true
        }
        #expect(outcome == .abandoned && disk[Sample.segment(1)] == bytes)
        #expect(!disk.paths.contains { $0.hasSuffix(".new") })
    }

    @Test func `a crash at any call of packing loses no record`() throws {
        let seed = UInt64.testSeed()
        var generator = SeededRandom(seed: seed)
        let whole = try Self.filledDisk()
        let start = whole.calls
        try Sample.open(whole, Self.options).log.recompressSealedSegments(blockSize: Self.blockSize)
        let calls = whole.calls - start
        var images = 0
        for call in 0..<calls {
            let disk = try Self.filledDisk()
            disk.fail(atCall: start + call, .crash)
            let log = try? Sample.open(disk, Self.options).log
            _ = try? log?.recompressSealedSegments(blockSize: Self.blockSize)
            for image in [disk.withoutUnsynced(), disk.random(&generator), disk.random(&generator)] {
                images += 1
                let (log, recovery) = try Sample.open(image, Self.options)
                #expect(recovery.nextSequence == 61, "seed \(seed), call \(call)")
                try log.append(Sample.commit(from: 61, count: 1))
                try log.recompressSealedSegments(blockSize: Self.blockSize)
                log.close()
                #expect(try Sample.read(image) == Sample.expected(1...61), "seed \(seed), call \(call)")
                #expect(try verified(image).isSound, "seed \(seed), call \(call)")
            }
        }
        print("crashes while packing: \(calls) calls, \(images) images, seed \(seed)")
        #expect(calls > 20)
    }

    @Test func `after a failure of any call, the old or the new segment exists, and the log continues`() throws {
        let whole = try Self.filledDisk()
        let first = try Sample.open(whole, Self.options).log
        let start = whole.calls
        try first.recompressSealedSegments(blockSize: Self.blockSize)
        for call in start..<whole.calls {
            let disk = try Self.filledDisk()
            let log = try Sample.open(disk, Self.options).log
            disk.fail(atCall: call, .full)
            #expect(throws: LogError.self, "call \(call)") {
                try log.recompressSealedSegments(blockSize: Self.blockSize)
            }
            try log.append(Sample.commit(from: 61, count: 1))
            log.close()
            #expect(try Sample.read(disk) == Sample.expected(1...61), "call \(call)")
            #expect(try verified(disk).isSound, "call \(call)")
        }
    }

    /// Writes a log that is so large that recompression with the default block size is worthwhile.
    private func fill(_ directory: String, _ options: OperationLog.Options) throws -> OperationLog {
        let log = try OperationLog.open(directory: directory, options: options).log
        for sequence in UInt64(1)...1500 { try log.append(Sample.commit(from: sequence, count: 1, size: 400)) }
        return log
    }

    private func expectAll(_ directory: String) throws {
        #expect(try LogVerification.verify(directory: directory).isSound)
        let records = try Sample.records(LogReader(directory: directory).records())
        #expect(records == (UInt64(1)...1500).map { Sample.record($0, size: 400) })
    }

    @Test func `a full segment is packed in the background`() throws {
        let store = TemporaryDirectory()
        defer { store.remove() }
        let directory = store.path + "/log"
        let log = try fill(directory, .init(durability: .none, sealing: .repacked(level: 3), segmentSize: 250_000))
        let sealed = try LogVerification.verify(directory: directory).segments.dropLast().count
        #expect(sealed > 0)
        while try LogVerification.verify(directory: directory).segments[0].blocks > 10 { pause() }
        log.close()
        try expectAll(directory)
    }

    @Test func `segments that were not packed before the log closed are packed after it opens again`() throws {
        let store = TemporaryDirectory()
        defer { store.remove() }
        let directory = store.path + "/log"
        var options = OperationLog.Options(durability: .none, sealing: .asWritten, segmentSize: 250_000)
        try fill(directory, options).close()
        #expect(try LogVerification.verify(directory: directory).segments[0].blocks > 100)
        options.sealing = .repacked(level: 3)
        let log = try OperationLog.open(directory: directory, options: options).log
        while try LogVerification.verify(directory: directory).segments[0].blocks > 10 { pause() }
        log.close()
        try expectAll(directory)
    }
}
