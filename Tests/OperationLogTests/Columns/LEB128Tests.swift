import Testing

@testable import OperationLog

/// Numbers of one, two, three and more bytes, with and without bytes after them.
@Suite struct LEB128Tests {
    /// Reads a number after three other bytes, up to `end` bytes after them.
    private func read(_ bytes: [UInt8], end: Int) -> (number: UInt64?, offset: Int) {
        ([9, 9, 9] + bytes).withUnsafeBytes { bytes in
            var offset = 3
            let number = LEB128.read(bytes, at: &offset, end: 3 + end)
            return (number, offset - 3)
        }
    }

    @Test(arguments: [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 1 << 63, UInt64.max])
    func `a number is read up to the end, and never past it`(number: UInt64) {
        var bytes: [UInt8] = []
        LEB128.append(number, to: &bytes)
        #expect(bytes.count == LEB128.size(number))
        for after in 0...3 {
            // The bytes after the end would continue a number.
            let all = bytes + [UInt8](repeating: 0x81, count: 3)
            let found = read(all, end: bytes.count + after)
            #expect(found.number == number && found.offset == bytes.count, "\(after) bytes after the number")
        }
        for end in 0..<bytes.count {
            let found = read(bytes, end: end)
            #expect(found.number == nil && found.offset == 0, "\(end) of \(bytes.count) bytes")
        }
    }

    @Test(arguments: [[0x80, 0x00], [0x80, 0x80, 0x00], [0xFF, 0xFF, 0x00], [0x80, 0x80, 0x80, 0x00]] as [[UInt8]])
    func `a number that is longer than necessary is not read`(bytes: [UInt8]) {
        for after in 0...3 {
            let found = read(bytes + [1, 1, 1], end: bytes.count + after)
            #expect(found.number == nil && found.offset == 0, "\(after) bytes after the number")
        }
    }

    @Test func `a number with more than 64 bits is not read`() {
        for last in [UInt8(0x02), 0x7F, 0x81] {
            let bytes = [UInt8](repeating: 0xFF, count: 9) + [last, 0x01]
            let found = read(bytes, end: bytes.count)
            #expect(found.number == nil && found.offset == 0, "\(last)")
        }
    }
}
