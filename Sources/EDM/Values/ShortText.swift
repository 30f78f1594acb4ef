/// Writes the text of a date, time, duration or GUID into borrowed memory, without allocating a string.
package struct ShortText {
    /// More than the longest text needs.
    package static let capacity = 64

    private let memory: UnsafeMutableBufferPointer<UInt8>
    package private(set) var count = 0

    /// - Parameter memory: at least ``capacity`` bytes. The writer never exceeds them.
    package init(_ memory: UnsafeMutableBufferPointer<UInt8>) { self.memory = memory }

    /// Returns the written text as a string.
    package static func string(_ write: (inout ShortText) -> Void) -> String {
        String(unsafeUninitializedCapacity: capacity) { memory in
            var text = ShortText(memory)
            write(&text)
            return text.count
        }
    }

    mutating func add(_ byte: UInt8) {
        guard count < memory.count else { return }
        memory[count] = byte
        count += 1
    }

    mutating func add(_ character: Unicode.Scalar) { add(UInt8(truncatingIfNeeded: character.value)) }

    /// Appends `number` in decimal, padded with zeros on the left.
    mutating func add(_ number: Int64, width: Int = 1) {
        if number < 0 { add("-") }
        let magnitude = number.magnitude
        var digits = 1
        var rest = magnitude / 10
        while rest > 0 {
            digits += 1
            rest /= 10
        }
        for _ in digits..<max(digits, width) { add("0") }
        guard count + digits <= memory.count else { return }
        rest = magnitude
        for place in (count..<count + digits).reversed() {
            memory[place] = UInt8(0x30 + rest % 10)
            rest /= 10
        }
        count += digits
    }

    /// Appends a fraction such as `.5` for half a second: a dot and `digits` digits of the picoseconds; nothing for 0
    /// digits.
    mutating func add(picoseconds: Int64, digits: Int) {
        guard digits > 0 else { return }
        add(".")
        add(picoseconds / powersOfTen[12 - digits], width: digits)
    }
}
