import DiskSimulation
import Testing

@testable import OperationLog

@Suite struct BlockHeaderTests {
    private let binding = SegmentBinding(checksum: 7, cipher: nil)

    /// Returns the header of a block without records and without content.
    private func empty(type: UInt8, reserved: UInt8 = 0) -> BlockHeader {
        BlockHeader(
            type: type, method: BlockMethod.stored, flags: [], reserved: reserved, firstSequence: 5, recordCount: 0,
            rawLength: 0, storedLength: 0, chainBefore: 1, chainAfter: 1, payloadChecksum: 0)
    }

    @Test func `a reader skips unknown types of blocks from 128 on, and no others`() {
        for type in UInt8(3) ... .max {
            #expect((empty(type: type).unsupportedFeature == nil) == (type >= 128), "type \(type)")
        }
    }

    @Test func `a skipped block may be empty`() {
        #expect(empty(type: 128).rangeFault(in: binding) == nil)
    }

    @Test func `a header is decoded with all of its fields`() throws {
        let header = empty(type: 200, reserved: 9)
        var bytes = [UInt8](repeating: 0, count: BlockHeader.Layout.byteCount)
        header.encode(into: &bytes, at: 0, binding: binding)
        #expect(try BlockHeader.decode(bytes[...], binding: binding) == header)
    }

    @Test func `each run has several blocks`() throws {
        let disk = SimulatedDisk()
        // Blocks of about 50 bytes.
        try Sample.write(disk, commits: Array(repeating: 1, count: 100), .init(sealing: .asWritten, runSize: 500))
        let segment = disk[Sample.segment(1)]
        let flags = Sample.blockOffsets(of: segment).dropLast().map {
            BlockFlags(rawValue: segment[$0 + BlockHeader.Layout.flags.offset])
        }
        #expect(flags.count > 90)
        #expect((5...30).contains(flags.count { $0.contains(.startsRun) }))
    }
}
