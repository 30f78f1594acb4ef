import SeededRandom
import Testing

@testable import OperationLog

@Suite struct CodingTests {
    @Test func `the checksum is CRC-32C, computed by instruction and by table`() {
        let digits = Array("123456789".utf8)
        #expect(crc32c(digits[...]) == 0xE306_9283)
        #expect(crc32cByTables(digits[...]) == 0xE306_9283)
        // RFC 3720, appendix B.4: 32 bytes of zeroes.
        #expect(crc32c([UInt8](repeating: 0, count: 32)[...]) == 0x8A91_36AA)
    }

    @Test func `instruction and table compute the same checksum for every length, alignment and continuation`() {
        var generator = SeededRandom(seed: 1)
        let bytes = (0..<100).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        for start in 0..<9 {
            for end in start...bytes.count {
                let slice = bytes[start..<end]
                let whole = crc32c(slice)
                #expect(whole == crc32cByTables(slice))
                let half = (start + end) / 2
                #expect(crc32c(bytes[half..<end], continuing: crc32c(bytes[start..<half])) == whole)
            }
        }
    }

    @Test(arguments: [0, 1, 127, 128, 16383, 16384, 2_097_151, 2_097_152])
    func `a record of any size has the computed size and is decoded`(size: Int) throws {
        var raw: [UInt8] = []
        RecordCoding.encode(kind: 200, payload: [UInt8](repeating: 5, count: size), into: &raw)
        #expect(raw.count == RecordCoding.encodedSize(payload: size))
        var offset = 0
        let found = try #require(RecordCoding.decode(raw, at: &offset))
        #expect(found.kind == 200 && found.payload.count == size && offset == raw.count)
    }

    @Test(
        arguments: [
            [], [1], [1, 0x80], [1, 0x80, 0x00], [1, 2, 9], [1, 0xFF, 0xFF, 0xFF, 0xFF], [1, 0xFF, 0xFF, 0xFF, 0x7F],
        ] as [[UInt8]])
    func `a record with an invalid or overlong length is not decoded`(raw: [UInt8]) {
        var offset = 0
        #expect(RecordCoding.decode(raw, at: &offset) == nil)
        #expect(offset == 0)
    }

    @Test func `segment names sort like their numbers, and other names are ignored`() {
        #expect(SegmentName.name(firstSequence: 1) == "00000000000000000001.segment")
        #expect(SegmentName.firstSequence(of: SegmentName.name(firstSequence: .max)) == .max)
        for name in [
            "1.segment", "00000000000000000001.segment.new", "0000000000000000000x.segment", ".segment",
            "99999999999999999999.segment",
        ] {
            #expect(SegmentName.firstSequence(of: name) == nil, "\(name)")
        }
        #expect(
            SegmentName.sorted([SegmentName.name(firstSequence: 10), "x", SegmentName.name(firstSequence: 9)])
                == [9, 10])
    }

    @Test func `a frame that needs a larger window than the format allows is rejected`() throws {
        let decompressor = try RunDecompressor()
        // A zstd frame header: magic, no content size, window descriptor for 64 MiB, then an empty last block.
        let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x80, 0x01, 0x00, 0x00]
        guard case .undecodable(let reason) = decompressor.decompress(frame[...], rawLength: 1) else {
            Issue.record("a window of 64 MiB was accepted")
            return
        }
        #expect(reason.contains("memory"))
    }

    @Test func `the memory that blocks share has no effect on their compressed form`() throws {
        func noise(_ count: Int) -> [UInt8] {
            var random = SeededRandom(seed: UInt64(count))
            return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        }
        let blocks = [noise(40_000), [7], noise(60_000)]
        let shared = try RunCompressor(level: 3)
        for blocks in [blocks, blocks.reversed()] {
            var output: [UInt8] = [1, 2, 3]
            for block in blocks {
                let before = output
                shared.startRun()
                try shared.compress(block[...], into: &output)
                let own = try RunCompressor(level: 3)
                own.startRun()
                var stored: [UInt8] = []
                try own.compress(block[...], into: &stored)
                #expect(output == before + stored, "\(block.count) bytes")
                guard case .raw(let raw) = try RunDecompressor().decompress(stored[...], rawLength: block.count) else {
                    Issue.record("a block of \(block.count) bytes was refused")
                    continue
                }
                #expect(raw.elementsEqual(block), "\(block.count) bytes")
            }
        }
    }

    @Test func `a block whose decompressed size differs from its header is rejected`() throws {
        let compressor = try RunCompressor(level: 3)
        var stored: [UInt8] = []
        compressor.startRun()
        try compressor.compress(ArraySlice(repeating: 7, count: 1_000_000), into: &stored)
        for length in [0, 1, 999_999, 1_000_001] {
            let decompressor = try RunDecompressor()
            guard case .undecodable = decompressor.decompress(stored[...], rawLength: length) else {
                Issue.record("\(length) bytes of 1000000 were accepted")
                continue
            }
        }
        guard case .raw(let raw) = try RunDecompressor().decompress(stored[...], rawLength: 1_000_000) else {
            Issue.record("the right length was refused")
            return
        }
        #expect(raw.count == 1_000_000)
    }
}
