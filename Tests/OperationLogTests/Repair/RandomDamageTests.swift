import DiskSimulation
import SeededRandom
import Testing

@testable import OperationLog

/// Random damage of every kind. Repair saves exactly the records that are still readable.
@Suite struct RandomDamageTests {
    @Test func `after random damage, each intact record keeps its number and the lost ones are reported`() throws {
        let seed = UInt64.testSeed()
        var generator = SeededRandom(seed: seed)
        let options = OperationLog.Options(sealing: .asWritten, segmentSize: 400, runSize: 150)
        let whole = SimulatedDisk()
        try Sample.write(whole, commits: (0..<20).map { 1 + $0 % 3 }, options)
        let last = try LogReader(directory: Sample.directory, fileSystem: whole).nextSequence() - 1
        let blocks = Blocks(whole)
        var salvages = 0
        for _ in 0..<250 {
            let disk = whole.copy()
            for _ in 0..<Int.random(in: 1...4, using: &generator) { Self.damage(disk, &generator) }
            let (certain, possible) = blocks.readable(on: disk)
            guard case .salvage(let plan)? = try? LogRepair(directory: Sample.directory, fileSystem: disk).plan() else {
                continue
            }
            salvages += 1
            try #expect(LogRepair(directory: Sample.directory, fileSystem: disk).salvage(to: "/store/new") == plan)
            #expect(
                try LogVerification.verify(directory: "/store/new", fileSystem: disk).isSound, "seed \(seed)")
            let records = try Sample.records(LogReader(directory: "/store/new", fileSystem: disk).records())
            for record in records {
                let isLost = record.kind == LogRepair.lostKind && record.payload.isEmpty
                #expect(isLost || record == Sample.record(record.sequence), "seed \(seed), record \(record.sequence)")
                #expect(
                    isLost ? !certain.contains(record.sequence) : possible.contains(record.sequence),
                    "seed \(seed), record \(record.sequence) of \(last), \(plan)")
            }
            // Only records at the end may be absent without a placeholder, because no intact data shows that they
            // existed.
            #expect(certain.allSatisfy { $0 <= UInt64(records.count) }, "seed \(seed)")
        }
        print("salvages: \(salvages)")
        #expect(salvages > 150)
    }

    private static func damage(_ disk: SimulatedDisk, _ generator: inout SeededRandom) {
        let segments = disk.paths.filter { $0.hasPrefix(Sample.directory + "/") && $0.hasSuffix(".segment") }
        guard segments.count > 1, let path = segments.randomElement(using: &generator),
            let other = segments.randomElement(using: &generator), disk[path].count > 8
        else { return }
        let start = Int.random(in: 0..<disk[path].count, using: &generator)
        let end = min(disk[path].count, start + Int.random(in: 1...80, using: &generator))
        switch Int.random(in: 0..<7, using: &generator) {
        case 0, 1: disk[path][start] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 2: disk[path].removeSubrange(start..<end)
        case 3: for index in start..<end { disk[path][index] = .random(in: 0 ... .max, using: &generator) }
        case 4: disk[path].removeLast(end - start)
        case 5: disk.erase(path)
        default:
            let bytes = disk[path]
            disk[path] = disk[other]
            disk[other] = bytes
        }
    }
}

/// The positions of the blocks in the undamaged log, to determine the readable records of a damaged log by comparing
/// bytes.
///
/// A record is readable if its block and all preceding blocks of its run are present. This is certain if at most one
/// byte of the segment's header changed, and possible otherwise.
private struct Blocks {
    private struct Block {
        let bytes: [UInt8]
        let records: ClosedRange<UInt64>
        let run: Int
    }

    private var blocks: [Block] = []
    private var headers: [ArraySlice<UInt8>] = []

    init(_ disk: SimulatedDisk) {
        var run = 0
        for path in disk.paths.filter({ $0.hasSuffix(".segment") }) {
            let segment = disk[path]
            let offsets = Sample.blockOffsets(of: segment)
            headers.append(segment.prefix(SegmentHeader.Layout.byteCount))
            for (index, offset) in offsets.enumerated() {
                let header = segment[offset...]
                let type: UInt8 = header.load(BlockHeader.Layout.type)
                guard type == BlockType.records else { continue }
                let flags: UInt8 = header.load(BlockHeader.Layout.flags)
                if BlockFlags(rawValue: flags).contains(.startsRun) { run += 1 }
                let first: UInt64 = header.load(BlockHeader.Layout.firstSequence)
                let count: UInt32 = header.load(BlockHeader.Layout.recordCount)
                let stored: UInt32 = header.load(BlockHeader.Layout.storedLength)
                let end = index + 1 < offsets.count ? offsets[index + 1] : offset + 44 + Int(stored)
                blocks.append(
                    Block(
                        bytes: Array(segment[offset..<end]), records: first...first + UInt64(count) - 1, run: run))
            }
        }
    }

    func readable(on disk: SimulatedDisk) -> (certain: Set<UInt64>, possible: Set<UInt64>) {
        let files = disk.paths.filter { $0.hasPrefix(Sample.directory + "/") && $0.hasSuffix(".segment") }
            .map { disk[$0] }
        let withHeader = files.filter { file in
            headers.contains { header in zip(header, file).count(where: { $0 != $1 }) <= 1 && file.count >= header.count
            }
        }
        return (readable(in: withHeader), readable(in: files, mended: true))
    }

    /// Returns the records whose blocks are present in the files.
    ///
    /// - Parameter mended: Whether a block also counts if one bit of its header, one bit of its payload, or both
    ///   differ.
    private func readable(in files: [[UInt8]], mended: Bool = false) -> Set<UInt64> {
        var readable: Set<UInt64> = []
        var brokenRun = 0
        for block in blocks where block.run != brokenRun {
            if files.contains(where: { $0.holds(block.bytes) || mended && $0.nearlyHolds(block.bytes) }) {
                readable.formUnion(block.records)
            } else {
                brokenRun = block.run
            }
        }
        return readable
    }
}

extension [UInt8] {
    fileprivate func holds(_ part: [UInt8]) -> Bool {
        guard count >= part.count else { return false }
        return withUnsafeBytes { all in
            part.withUnsafeBytes { part in
                (0...(all.count - part.count)).contains { start in
                    all[start] == part[0] && all[start + part.count - 1] == part[part.count - 1]
                        && UnsafeRawBufferPointer(rebasing: all[start..<start + part.count]).elementsEqual(part)
                }
            }
        }
    }

    /// Whether the bytes contain the block with at most one changed bit in its header and one in its payload.
    fileprivate func nearlyHolds(_ block: [UInt8]) -> Bool {
        guard count >= block.count else { return false }
        func bits(_ range: Range<Int>, at start: Int) -> Int {
            var bits = 0
            for index in range where bits < 2 { bits += (self[start + index] ^ block[index]).nonzeroBitCount }
            return bits
        }
        let header = BlockHeader.Layout.byteCount
        return (0...(count - block.count)).contains { start in
            bits(0..<header, at: start) < 2 && bits(header..<block.count, at: start) < 2
        }
    }
}
