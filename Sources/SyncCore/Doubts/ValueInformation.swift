import EDM

/// The information content of a value, in bits, as evidence of the entity that it belongs to.
enum ValueInformation {
    /// Returns the bits of a value, given its frequency among the known entities.
    ///
    /// - Parameters:
    ///   - same: The number of known entities of the set with the value.
    ///   - all: The number of known entities of the set.
    static func bits(_ value: Value, same: Int, all: Int) -> Double {
        let own = bits(value)
        guard same > 0 else { return own }
        return min(own, logarithm(UInt64(max(all, same) + 1) / UInt64(same + 1)))
    }

    /// Returns the bits of a value by its form alone, for a value that no known entity has.
    static func bits(_ value: Value) -> Double {
        switch value {
        case .null, .complex, .collection, .raw: 0
        case .boolean: 1
        case .enumeration: 2
        case .integer(let number): logarithm(number.magnitude)
        case .decimal(let number): digits(of: number.text)
        case .single(let number): digits(of: "\(number)")
        case .double(let number): digits(of: "\(number)")
        case .guid(let guid): guid.high == 0 && guid.low == 0 ? 0 : 122
        case .date: 5
        case .duration: 6
        case .timeOfDay(let time): bits(milliseconds: time.picoseconds / 1_000_000_000)
        case .dateTime(let time): 5 + bits(milliseconds: time.millisecondsSince1970)
        case .dateTimeOffset(let time): 5 + bits(milliseconds: time.millisecondsSince1970)
        case .binary(let bytes): Double(min(bytes.count * 4, 128))
        case .string(let text): bits(text)
        }
    }

    /// Returns the bits of a time of day. Users choose whole hours and minutes; seconds and fractions come from clocks.
    private static func bits(milliseconds: Int64) -> Double {
        if milliseconds % 1_000 != 0 { return 25 }
        return milliseconds % 60_000 != 0 ? 15 : milliseconds % 3_600_000 != 0 ? 7 : 3
    }

    /// Returns the bits of a text. Each digit and letter counts, but a word of letters alone counts at most as a choice
    /// among the few hundred words that are common in names, because another user may have chosen the same.
    private static func bits(_ text: String) -> Double {
        let text = text.prefix(256)
        let words = text.split { !$0.isLetter && !$0.isNumber }
        let separators = Double(text.count - words.reduce(0) { $0 + $1.count })
        return words.reduce(separators) { bits, word in
            let isPlain = !word.contains(where: \.isNumber)
            let own = word.reduce(0.0) { $0 + ($1.isNumber ? 3 : 2.5) }
            return bits + (isPlain ? min(own, wordBits) : own)
        }
    }

    private static let wordBits = 8.0

    private static func digits(of text: String) -> Double {
        Double(text.utf8.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }.count)
            * 3
    }

    /// Returns the binary logarithm, rounded down.
    private static func logarithm(_ number: UInt64) -> Double {
        number == 0 ? 0 : Double(UInt64.bitWidth - 1 - number.leadingZeroBitCount)
    }
}
