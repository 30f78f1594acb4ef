import DiskSimulation
import SeededRandom
import Testing

@testable import OperationLog

/// Tests that change each bit of a log of 1 MB, one at a time.
@Suite struct BitFlipTests {
    private static let size = 1_000_000

    /// Returns a log with commits of one to eight records of up to 600 bytes, in segments of some ten thousand bytes.
    private static func log(seed: UInt64) throws -> (disk: SimulatedDisk, records: [LogRecord]) {
        var generator = SeededRandom(seed: seed)
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(segmentSize: 10000, runSize: 3000)).log
        var records: [LogRecord] = []
        var bytes = 0
        while bytes < size {
            let next = log.nextSequence
            let size = Int.random(in: 20...600, using: &generator)
            let commit = Sample.commit(from: next, count: .random(in: 1...8, using: &generator), size: size)
            let range = try log.append(commit)
            records += zip(range, commit).map { LogRecord(sequence: $0, kind: $1.kind, payload: $1.payload) }
            bytes = disk.segments.reduce(0) { $0 + disk[$1].count }
        }
        log.close()
        return (disk, records)
    }

    /// Runs only the reading step that covers the changed bit.
    ///
    /// A reader proceeds in steps, and each step checks one structure. If a step rejects its structure, the content is
    /// neither decompressed nor returned as a record.
    @Test func `each flipped bit of a log of 1 MB is detected by the step that reads it`() async throws {
        let seed = UInt64.testSeed()
        let disk = try Self.log(seed: seed).disk
        let total = try await withThrowingTaskGroup(of: FlipCount.self) { group in
            for path in disk.segments {
                let bytes = disk[path]
                group.addTask { try FlipCount.ofAll(in: bytes, path, keys: []) }
            }
            return try await group.reduce(into: FlipCount()) { $0.add($1) }
        }
        let bits = disk.segments.reduce(0) { $0 + disk[$1].count * 8 }
        print("bits flipped: \(total), seed \(seed)")
        #expect(total.noticed == bits && bits >= Self.size * 8, "seed \(seed): \(total.unnoticed.prefix(20))")
    }

    /// A sample of flipped bits, checked with a complete reader and with a writer that opens the log.
    @Test func `with a flipped bit a reader returns a prefix of the records and throws unless it is complete`()
        throws
    {
        let seed = UInt64.testSeed()
        var generator = SeededRandom(seed: seed)
        let (disk, records) = try Self.log(seed: seed)
        let segments = disk.segments
        let runs = Effort.runs("TIDELOG_FLIPS", usually: 3000)
        var complete = 0
        for run in 0..<runs {
            let segment = Int.random(in: 0..<segments.count, using: &generator)
            // One flip in ten changes the first or the last bytes, which contain the headers and the footer.
            let count = disk[segments[segment]].count
            let byte =
                switch run % 20 {
                case 0: Int.random(in: 0..<64, using: &generator)
                case 1: count - 1 - Int.random(in: 0..<80, using: &generator)
                default: Int.random(in: 0..<count, using: &generator)
                }
            let flipped = disk.copy()
            flipped[segments[segment]][byte] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            let context = "seed \(seed), run \(run), \(segments[segment]), byte \(byte)"

            let first = SegmentName.firstSequence(of: String(segments[segment].dropFirst(Sample.directory.count + 1)))
            let expected = Array(records[Int(try #require(first) - 1)...].prefix(250))
            let (read, failure) = Self.read(flipped, expected)
            #expect(read == Array(expected.prefix(read.count)), "\(context)")
            // The log was closed, so its last commit is not accepted as torn.
            #expect(failure != nil || read.count == expected.count, "\(context)")
            if failure == nil { complete += 1 }
            if let log = try? Sample.open(flipped).log {
                log.close()
                #expect(log.nextSequence == records.last.map { $0.sequence + 1 }, "\(context)")
            }
        }
        print("bits flipped and read: \(runs), of which \(complete) made no difference to the reader; seed \(seed)")
        #expect(complete < runs / 5)
    }

    private static func read(
        _ disk: SimulatedDisk, _ expected: [LogRecord]
    ) -> (records: [LogRecord], failure: (any Error)?) {
        var records: [LogRecord] = []
        do {
            guard let first = expected.first, let last = expected.last else { return ([], nil) }
            let reader = try LogReader(directory: Sample.directory, fileSystem: disk)
            try reader.forEach(from: first.sequence, through: last.sequence) { records.append($0) }
            return (records, nil)
        } catch {
            return (records, error)
        }
    }
}

/// The numbers of flipped bits that each step detected, and the bits that no step detected.
private struct FlipCount: CustomStringConvertible {
    private(set) var header = 0
    private(set) var blocks = 0
    private(set) var footer = 0
    private(set) var trailer = 0
    private(set) var unnoticed: [String] = []

    var noticed: Int { header + blocks + footer + trailer }

    var description: String {
        "\(noticed) noticed (in segment headers \(header), blocks \(blocks), footers \(footer), trailers \(trailer)), "
            + "\(unnoticed.count) not"
    }

    mutating func add(_ other: FlipCount) {
        header += other.header
        blocks += other.blocks
        footer += other.footer
        trailer += other.trailer
        unnoticed += other.unnoticed
    }

    /// Flips each bit of the segment once.
    static func ofAll(in bytes: [UInt8], _ path: String, keys: [LogKey]) throws -> FlipCount {
        let file = FlippedFile(bytes)
        let first = try #require(SegmentName.firstSequence(of: String(path.suffix(28))))
        func open() throws(LogError) -> SegmentFile {
            try SegmentFile(
                OneFileSystem(file: file), directory: "", firstSequence: first, mode: .read, keys: keys)
        }
        let segment = try open()
        var count = FlipCount()

        /// Flips each bit of the range, and counts it as detected if `isIntact` throws or returns false.
        func flip(_ range: Range<Int>, _ counter: WritableKeyPath<FlipCount, Int>, _ isIntact: () throws -> Bool) {
            for bit in range.lowerBound * 8..<range.upperBound * 8 {
                file.flipped = bit
                segment.refresh()
                if (try? isIntact()) == true {
                    count.unnoticed.append("\(path), bit \(bit)")
                } else {
                    count[keyPath: counter] += 1
                }
            }
            file.flipped = nil
            segment.refresh()
        }

        flip(0..<Int(segment.start.offset), \.header) {
            _ = try open()
            return true
        }
        var position = segment.start
        while true {
            let place = position
            func isIntact() throws -> Bool {
                switch try segment.step(at: place) {
                case .records, .footer, .other: true
                case .end, .invalid: false
                }
            }
            switch try segment.step(at: place) {
            case .records(let block), .other(let block):
                position = block.next
                flip(Int(place.offset)..<Int(position.offset), \.blocks, isIntact)
            case .footer(let block, _):
                flip(Int(place.offset)..<Int(block.next.offset), \.footer, isIntact)
                flip(Int(block.next.offset)..<bytes.count, \.trailer) { try segment.ending(after: block) == .trailer }
                return count
            case .end:
                return count
            case .invalid(let fault):
                throw fault
            }
        }
    }
}

/// A file that returns its bytes with one bit inverted.
private final class FlippedFile: File {
    private let bytes: [UInt8]
    var flipped: Int?

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func size() throws(FileSystemError) -> UInt64 { UInt64(bytes.count) }

    func read(at offset: UInt64, count: Int) throws(FileSystemError) -> [UInt8] {
        let start = min(Int(offset), bytes.count)
        var read = Array(bytes[start..<min(bytes.count, start + count)])
        if let flipped, flipped / 8 >= start, flipped / 8 < start + read.count {
            read[flipped / 8 - start] ^= 1 << UInt8(flipped % 8)
        }
        return read
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {}
    func sync() throws(FileSystemError) {}
    func truncate(to size: UInt64) throws(FileSystemError) {}
    func close() {}
}

private struct OneFileSystem: FileSystem {
    nonisolated(unsafe) let file: FlippedFile

    func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File { file }
    func list(_ directory: String) throws(FileSystemError) -> [String] { [] }
    func createDirectory(_ path: String) throws(FileSystemError) {}
    func rename(_ path: String, to target: String) throws(FileSystemError) {}
    func remove(_ path: String) throws(FileSystemError) {}
    func syncDirectory(_ path: String) throws(FileSystemError) {}
    func lock(_ path: String) throws(FileSystemError) -> LockOutcome { .heldByAnother(processID: nil) }
}

extension SimulatedDisk {
    fileprivate var segments: [String] { paths.filter { $0.hasSuffix(".segment") } }
}
