/// A block's records with the values of each field stored together, as ``BlockMethod/zstdColumns`` compresses them.
///
/// A record is split into steps. A step is a literal (bytes that many records share) followed by one value. A table
/// lists each distinct step once, a record is a sequence of step numbers, and the values of each step form a column:
/// ```
/// columns    = step-count step* row-length step-number* column*
/// step       = ending [size] literal-length literal     ; size: of a fixed value only
/// column     = column-length [mode [factor]] value*     ; one for each step that has values, in the table's order
/// ```
/// All numbers are LEB128.
enum ColumnForm {
    /// The kind of value that follows a step's literal.
    enum Ending: UInt8 {
        /// No value: the record ends here.
        case end = 0
        case number = 1
        case text = 2
        case fixed = 3
        /// The rest of the record: a length that is not part of the record, then the bytes.
        case rest = 4
    }

    /// The encoding of a column of numbers, given by the column's first byte.
    enum NumberMode: UInt8 {
        case plain = 0
        /// A factor, then the zigzag-encoded difference of each number from its predecessor, divided by the factor.
        ///
        /// The first difference is from 0 and is not divided.
        case differences = 1
    }

    /// The maximum number of steps. Records with more distinct steps are too different from each other for columns.
    static let maximumSteps = 16_384
}

/// LEB128 encoding in memory.
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

    /// Returns the number at `offset` and moves `offset` after it.
    ///
    /// Returns nil if there is no number, if it does not fit into 64 bits, or if it is longer than necessary.
    @inline(__always)
    static func read(_ bytes: UnsafeRawBufferPointer, at offset: inout Int, end: Int) -> UInt64? {
        guard offset < end else { return nil }
        let first = bytes[offset]
        if first < 0x80 {
            offset += 1
            return UInt64(first)
        }
        // Most numbers take one byte, and most of the remaining ones two, or three in a large log.
        if end - offset > 2 {
            let (second, third) = (bytes[offset + 1], bytes[offset + 2])
            if second < 0x80, second > 0 {
                offset += 2
                return UInt64(first & 0x7F) | UInt64(second) << 7
            }
            if second >= 0x80, third < 0x80, third > 0 {
                offset += 3
                return UInt64(first & 0x7F) | UInt64(second & 0x7F) << 7 | UInt64(third) << 14
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
