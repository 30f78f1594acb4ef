import EDM
import Testing

/// The comparison of bytes by words.
struct RawBytesTests {
    @Test func `buffers with the same bytes are equal at any address`() {
        for count in 0...40 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: 7 &* $0 &+ 1) }
            for (first, second) in [(0, 0), (1, 0), (1, 3), (5, 7)] {
                compare(bytes, at: first, bytes, at: second) { #expect($0, "\(count) bytes at \(first), \(second)") }
            }
        }
    }

    @Test func `buffers that differ in one byte are not equal`() {
        for count in 1...40 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: 7 &* $0 &+ 1) }
            for place in 0..<count {
                var other = bytes
                other[place] ^= 0x80
                for (first, second) in [(0, 0), (1, 3), (3, 1)] {
                    compare(bytes, at: first, other, at: second) {
                        #expect(!$0, "byte \(place) of \(count) at \(first), \(second)")
                    }
                }
            }
        }
    }

    @Test func `buffers of different lengths are not equal, whatever is after the shorter one`() {
        let bytes = [UInt8](repeating: 1, count: 40)
        for count in 0..<40 {
            compare(Array(bytes[..<count]), at: 1, Array(bytes[...count]), at: 3) { #expect(!$0, "\(count)") }
        }
    }

    @Test func `empty buffers are equal with and without an address`() {
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        #expect(none.hasSameBytes(as: none))
        [UInt8(1)].withUnsafeBytes { bytes in
            let empty = UnsafeRawBufferPointer(rebasing: bytes[..<0])
            #expect(none.hasSameBytes(as: empty) && empty.hasSameBytes(as: none) && empty.hasSameBytes(as: empty))
            #expect(!none.hasSameBytes(as: bytes) && !bytes.hasSameBytes(as: none))
        }
    }

    @Test func `a byte is that of the subscript`() {
        let bytes = (0...255).map { UInt8($0) }
        bytes.withUnsafeBytes { bytes in
            for offset in bytes.indices { #expect(bytes.byte(at: offset) == bytes[offset]) }
        }
    }

    @Test func `a number of eight bytes is read at any offset`() throws {
        for before in 0...8 {
            var writer = ByteWriter()
            for _ in 0..<before { writer.byte(0xFF) }
            writer.fixed64(0x0123_4567_89AB_CDEF)
            #expect(writer.bytes[before...].elementsEqual([0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 0x23, 0x01]))
            let number = try ByteReader.read(writer.bytes) { reader throws(CodecError) in
                for _ in 0..<before { _ = try reader.byte() }
                return try reader.fixed64()
            }
            #expect(number == 0x0123_4567_89AB_CDEF)
            #expect(throws: CodecError.self) {
                try ByteReader.read(Array(writer.bytes.dropLast())) { reader throws(CodecError) in
                    for _ in 0..<before { _ = try reader.byte() }
                    return try reader.fixed64()
                }
            }
        }
    }

    /// Calls `body` with the result of comparing copies of the bytes at the given offsets from aligned addresses.
    private func compare(
        _ a: [UInt8], at first: Int, _ b: [UInt8], at second: Int, _ body: (Bool) -> Void
    ) {
        let (paddedA, paddedB) = (
            [UInt8](repeating: 0xAA, count: first) + a + [0xAA], [UInt8](repeating: 0x55, count: second) + b + [0x55]
        )
        paddedA.withUnsafeBytes { x in
            paddedB.withUnsafeBytes { y in
                body(
                    UnsafeRawBufferPointer(rebasing: x[first..<first + a.count]).hasSameBytes(
                        as: UnsafeRawBufferPointer(rebasing: y[second..<second + b.count])))
            }
        }
    }
}
