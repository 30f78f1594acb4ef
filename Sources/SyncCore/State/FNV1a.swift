/// The 64-bit FNV-1a hash.
package struct FNV1a {
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    package mutating func add(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { add(bytes: $0) }
        end()
    }

    /// Adds a part of an item.
    mutating func add(bytes: UnsafeRawBufferPointer) { for byte in bytes { add(byte: byte) } }

    /// Adds a part of an item.
    mutating func add(byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }

    /// Ends an item, so that the bytes of adjacent items cannot be confused.
    mutating func end() { value = (value ^ 0xFF) &* 0x100_0000_01b3 }

    package mutating func add(_ text: String.UTF8View) {
        for byte in text { add(byte: byte) }
        end()
    }

    package mutating func add(_ number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) {
            value = (value ^ UInt64(UInt8(truncatingIfNeeded: number >> UInt64(shift)))) &* 0x100_0000_01b3
        }
    }

    /// Returns a hash as sixteen hexadecimal digits.
    package static func text(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
