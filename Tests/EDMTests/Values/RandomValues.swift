import EDM
import SeededRandom

/// A generator of property values of every kind, with texts and numbers that are error-prone.
struct RandomValues {
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    static let names = [
        "ID", "Name", "Amount", "A rather long name of a property", "Ort", "Größe", "Cafe\u{301}", "x", "Note",
        "Address",
    ]

    mutating func properties(depth: Int = 0) -> PropertyValues {
        let count = Int.random(in: 0...Self.names.count, using: &random)
        let names = Self.names.shuffled(using: &random).prefix(count)
        return PropertyValues(names.map { ($0, value(depth: depth)) })
    }

    mutating func value(depth: Int = 0) -> Value {
        switch Int.random(in: 0..<(depth < 3 ? 19 : 17), using: &random) {
        case 0: .null
        case 1: .boolean(.random(using: &random))
        case 2: .integer(pick([0, -1, 63, 64, .max, .min]))
        case 3: .integer(.random(in: -100_000...100_000, using: &random))
        // Collections contain no NaN: Swift compares an array with itself as equal even if it contains a NaN.
        case 4: .single(pick([0, -0.0, 1.5, depth == 0 ? .nan : 2, .infinity, .leastNonzeroMagnitude]))
        case 5: .double(pick([0, -0.0, 1.5, depth == 0 ? .signalingNaN : 2, -.infinity, .greatestFiniteMagnitude]))
        case 6, 7: .decimal(decimal())
        case 8: .string(text())
        case 9: .binary((0..<Int.random(in: 0...20, using: &random)).map { _ in .random(in: 0...255, using: &random) })
        case 10: .guid(GuidValue(high: .random(in: 0 ... .max, using: &random), low: 7))
        case 11: .date(date())
        case 12: .timeOfDay(time())
        case 13: .duration(duration())
        case 14: .dateTime(LocalDateTime(date: date(), time: time()))
        case 15:
            .dateTimeOffset(
                GlobalDateTime(
                    local: LocalDateTime(date: date(), time: time()), offsetMinutes: pick([0, 60, -1439, 1439, 330]))!)
        case 16: Bool.random(using: &random) ? .enumeration(text()) : .raw("{\"a\":\"\(text())\"}")
        case 17:
            .complex(
                ComplexValue(type: pick([nil, "S.Address", "S.Größe"]), properties: properties(depth: depth + 1)))
        default:
            .collection((0..<Int.random(in: 0...4, using: &random)).map { _ in value(depth: depth + 1) })
        }
    }

    private mutating func pick<T>(_ items: [T]) -> T { items[Int.random(in: 0..<items.count, using: &random)] }

    private mutating func text() -> String {
        pick(["", "a", "eight by", "nine byte", "Straße", "e\u{301}", "é", "日本", "👩‍👩‍👧", "\0", "\u{10FFFF}", "' \" \\"])
    }

    private mutating func decimal() -> DecimalValue {
        DecimalValue(pick(["0", "0.00", "-0", "0.5", "-1.50", "1.5", "INF", "-INF", "NaN", "12345678901234567890.1"]))!
    }

    private mutating func date() -> LocalDate {
        LocalDate(year: pick([2024, 1, -44, 0, 99_999_999, -99_999_999]), month: 2, day: pick([1, 28]))!
    }

    private mutating func time() -> LocalTime {
        LocalTime(
            hour: 23, minute: 5, second: 0, picosecond: pick([0, 500_000_000_000, 1, 120_000_000_000]),
            fractionDigits: pick([0, 1, 3, 12]))!
    }

    private mutating func duration() -> DayTimeDuration {
        DayTimeDuration(
            isNegative: .random(using: &random), seconds: pick([0, 59, 3600, 86_400, 90_061, .max]),
            picoseconds: pick([0, 1, 500_000_000_000]))!
    }
}
