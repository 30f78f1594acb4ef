/// A block's records with the values of each field side by side, as they are compressed by ``BlockMethod/zstdColumns``.
///
/// A record is cut into steps: bytes that are alike in many records, then one value. Each different step is written once,
/// in a table; a record is a row of step numbers, and each step's values lie in a column of its own:
/// ```
/// columns    = step-count step* row-length step-number* column*
/// step       = form [size] literal-length literal       ; size: of form fixed only
/// column     = value-length value*                      ; one for each step that has values, in the table's order
/// ```
/// All numbers are LEB128.
enum ColumnForm {
    /// What follows a step's literal.
    enum Ending: UInt8 {
        /// Nothing: the record is at its end.
        case end = 0
        case number = 1
        case text = 2
        case fixed = 3
        /// The rest of the record: a length that is not part of it, then bytes.
        case rest = 4
    }

    /// How a column of numbers is written, in its first byte.
    enum NumberMode: UInt8 {
        case plain = 0
        /// A factor, then each number's zigzag difference from the one before (the first: from 0), divided by the
        /// factor. The first is not divided.
        case differences = 1
    }

    /// More are not worth it: records that differ so much have no columns.
    static let maximumSteps = 16_384
}

/// LEB128 in memory.
enum LEB128 {
    static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    static func size(_ value: UInt64) -> Int { value == 0 ? 1 : (70 - (value | 1).leadingZeroBitCount) / 7 }

    /// The number at `offset`, which is moved behind it; nil where there is none that fits 64 bits in as few bytes as it
    /// needs.
    @inline(__always)
    static func read(_ bytes: UnsafeRawBufferPointer, at offset: inout Int, end: Int) -> UInt64? {
        guard offset < end else { return nil }
        let first = bytes[offset]
        if first < 0x80 {
            offset += 1
            return UInt64(first)
        }
        // Most are of one byte, and most others of two.
        if end - offset > 1 {
            let second = bytes[offset + 1]
            if second < 0x80, second > 0 {
                offset += 2
                return UInt64(first & 0x7F) | UInt64(second) << 7
            }
        }
        return readLong(bytes, at: &offset, end: end)
    }

    private static func readLong(_ bytes: UnsafeRawBufferPointer, at offset: inout Int, end: Int) -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        var at = offset
        while at < end {
            let byte = bytes[at]
            at += 1
            if shift == 63, byte > 1 { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 {
                if byte == 0 { return nil }
                offset = at
                return value
            }
            shift += 7
            if shift > 63 { return nil }
        }
        return nil
    }
}
