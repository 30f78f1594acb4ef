import DiskSimulation
import Testing

@testable import OperationLog

/// Changes by an attacker who knows the format but not the key and recomputes all checksums.
@Suite struct TamperingTests {
    private static let options = OperationLog.Options(compression: .stored, runSize: 150, keys: [Sample.key])

    /// Returns the offsets of the block headers, up to the footer or the end.
    private func blocks(_ bytes: [UInt8]) throws -> [Int] {
        var offsets: [Int] = []
        var offset = try SegmentHeader.decode(bytes).byteCount
        while offset + BlockHeader.Layout.byteCount <= bytes.count {
            offsets.append(offset)
            let stored: UInt32 = bytes[offset...].load(BlockHeader.Layout.storedLength)
            offset += BlockHeader.Layout.byteCount + Int(stored)
        }
        return offsets
    }

    /// Recomputes the checksums of the block at `offset`.
    private func mend(_ bytes: inout [UInt8], at offset: Int) {
        let payload = offset + BlockHeader.Layout.byteCount
        let stored: UInt32 = bytes[offset...].load(BlockHeader.Layout.storedLength)
        if payload + Int(stored) <= bytes.count {
            bytes.store(crc32c(bytes[payload..<payload + Int(stored)]), BlockHeader.Layout.payloadChecksum, in: offset)
        }
        let covered = bytes[offset..<offset + BlockHeader.Layout.checksum.offset]
        let segment = SegmentHeader.checksum(of: Array(bytes.prefix(SegmentHeader.maximumByteCount)))
        bytes.store(crc32c(covered, continuing: segment), BlockHeader.Layout.checksum, in: offset)
    }

    private func readable(_ disk: SimulatedDisk) -> (records: [LogRecord], isComplete: Bool) {
        var records: [LogRecord] = []
        do {
            let reader = try LogReader(directory: Sample.directory, keys: [Sample.key], fileSystem: disk)
            let cursor = reader.records()
            while let record = try cursor.next() { records.append(record) }
            return (records, true)
        } catch {
            return (records, false)
        }
    }

    @Test func `a changed bit in a block is detected even if all checksums match`() throws {
        let whole = SimulatedDisk()
        try Sample.write(whole, commits: [1, 2, 1, 1, 1], Self.options)
        let bytes = whole[Sample.segment(1)]
        let offsets = try blocks(bytes)
        let last = try #require(offsets.last)
        var flips = 0
        for (index, offset) in offsets.enumerated() {
            let end = index + 1 < offsets.count ? offsets[index + 1] : bytes.count
            for place in offset..<end {
                for bit in 0..<8 {
                    var changed = bytes
                    changed[place] ^= 1 << UInt8(bit)
                    mend(&changed, at: offset)
                    if changed == bytes { continue }
                    let disk = whole.copy()
                    disk[Sample.segment(1)] = changed
                    let (records, isComplete) = readable(disk)
                    let context: Comment = "byte \(place - offset) of block \(index), bit \(bit)"
                    #expect(records == Array(Sample.expected(1...6).prefix(records.count)), context)
                    #expect(records.count < 6, context)
                    // Only the last block can be made to look torn, because no later data confirms its end.
                    if isComplete { #expect(offset == last, context) }
                    flips += 1
                }
            }
        }
        print("bits changed, checksums made to fit: \(flips)")
        #expect(flips > 3000)
    }

    @Test func `a block from another segment, log or position is rejected even if its checksums match`()
        throws
    {
        func log(_ commits: [Int], _ store: StoreIdentifier = Sample.store) throws -> [UInt8] {
            let disk = SimulatedDisk()
            var options = Self.options
            options.storeIdentifier = store
            let (log, _) = try OperationLog.open(directory: Sample.directory, options: options, fileSystem: disk)
            for count in commits { try log.append(Sample.commit(from: log.nextSequence, count: count)) }
            log.close()
            return disk[Sample.segment(1)]
        }
        let commits = [1, 1, 1, 1]
        let bytes = try log(commits)
        let donors = [
            // Blocks with the same content under the same key, from another segment and from another store, and blocks
            // of this segment from other positions.
            (try log(commits), 1), (try log(commits, StoreIdentifier(bytes: Array(2...17))!), 1), (bytes, 2),
            (bytes, 0),
        ]
        let target = try blocks(bytes)[1]
        for (index, (donor, from)) in donors.enumerated() {
            let source = try blocks(donor)
            let size = source[1] - source[0]
            #expect(try blocks(bytes)[2] - target == size)
            var spliced = bytes
            spliced.replaceSubrange(target..<target + size, with: donor[source[from]..<source[from] + size])
            // The sequence number and the chain are set to those of the new position, as far as this is possible
            // without the key.
            for field in [
                BlockHeader.Layout.firstSequence, BlockHeader.Layout.chainBefore, BlockHeader.Layout.chainAfter,
            ] {
                spliced.replaceSubrange(
                    target + field.offset..<target + field.offset + field.size,
                    with: bytes[target + field.offset..<target + field.offset + field.size])
            }
            mend(&spliced, at: target)
            let disk = SimulatedDisk(directories: ["/store", Sample.directory])
            disk[Sample.segment(1)] = spliced
            let (records, isComplete) = readable(disk)
            #expect(records == Sample.expected(1...1) && !isComplete, "donor \(index)")
        }
    }

    @Test func `a segment that was forged without the key is rejected`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [1, 1], Self.options)
        var header = Array(disk[Sample.segment(1)].prefix(SegmentHeader.EncryptedLayout.byteCount))
        // A different salt with the correct key identifier, and a block in plain text.
        header[70] ^= 1
        header.store(crc32c(header[..<92]), SegmentHeader.EncryptedLayout.checksum, in: 0)
        var raw: [UInt8] = []
        RecordCoding.encode(kind: 1, payload: Array("forged, and long enough for a tag".utf8), into: &raw)
        let block = BlockHeader(
            type: BlockType.records, method: BlockMethod.stored, flags: [.startsRun, .predecessorsDurable],
            firstSequence: 1, recordCount: 1, rawLength: UInt32(raw.count - SegmentCipher.overhead),
            storedLength: UInt32(raw.count), chainBefore: Sample.store.initialChain, chainAfter: 0,
            payloadChecksum: crc32c(raw[...]))
        var bytes = header + [UInt8](repeating: 0, count: BlockHeader.Layout.byteCount)
        block.encode(
            into: &bytes, at: header.count,
            binding: SegmentBinding(checksum: SegmentHeader.checksum(of: header), cipher: nil))
        disk[Sample.segment(1)] = bytes + raw
        let (records, isComplete) = readable(disk)
        #expect(records.isEmpty && !isComplete)
    }
}
