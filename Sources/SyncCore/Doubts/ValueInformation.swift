import EDM

/// How much a value says about which entity it belongs to, in bits.
enum ValueInformation {
    /// The bits of a value that other known entities have or have not.
    ///
    /// - Parameters:
    ///   - same: how many known entities of the set have the value.
    ///   - all: how many entities of the set are known.
    static func bits(_ value: Value, same: Int, all: Int) -> Double {
        let own = bits(value)
        guard same > 0 else { return own }
        return min(own, logarithm(UInt64(max(all, same) + 1) / UInt64(same + 1)))
    }

    /// The bits of a value by its form alone: for a value that no known entity has.
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

    /// Of a time of day: whole hours and minutes are chosen by people, seconds and their fractions by clocks.
    private static func bits(milliseconds: Int64) -> Double {
        if milliseconds % 1_000 != 0 { return 25 }
        return milliseconds % 60_000 != 0 ? 15 : milliseconds % 3_600_000 != 0 ? 7 : 3
    }

    /// Digits and letters count each, but a word of letters alone counts no more than a choice from the few hundred words by
    /// which people name things: others may well have chosen the same.
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

    /// The binary logarithm, rounded down.
    private static func logarithm(_ number: UInt64) -> Double {
        number == 0 ? 0 : Double(UInt64.bitWidth - 1 - number.leadingZeroBitCount)
    }
}
