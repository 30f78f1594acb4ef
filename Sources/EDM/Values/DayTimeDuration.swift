/// An `Edm.Duration` (days, hours, minutes, seconds), or an `Edm.Time` of V2.
public struct DayTimeDuration: Sendable, Hashable {
    /// Whether the duration is negative; `false` for zero.
    public let isNegative: Bool
    /// Whole seconds, never negative.
    public let seconds: Int64
    /// The fraction of a second, 0 to 999,999,999,999.
    public let picoseconds: Int64

    /// A duration of zero.
    public static let zero = DayTimeDuration()

    private init() {
        isNegative = false
        seconds = 0
        picoseconds = 0
    }

    /// Creates a duration. Returns `nil` if a part is negative or the picoseconds amount to a second or more.
    public init?(isNegative: Bool = false, seconds: Int64, picoseconds: Int64 = 0) {
        guard seconds >= 0, (0..<LocalTime.picosecondsPerSecond).contains(picoseconds) else { return nil }
        self.init(unchecked: seconds, picoseconds: picoseconds, isNegative: isNegative)
    }

    init(unchecked seconds: Int64, picoseconds: Int64, isNegative: Bool) {
        self.isNegative = isNegative && (seconds, picoseconds) != (0, 0)
        self.seconds = seconds
        self.picoseconds = picoseconds
    }

    /// The number of fractional digits of the seconds that the value needs.
    public var significantDigits: Int { neededDigits(picoseconds) }
}

extension DayTimeDuration: Comparable, CustomStringConvertible {
    /// Parses `[-]P[nD][T[nH][nM][n[.f]S]]` with at least one part, and at least one after a `T`. Months and years
    /// are refused, because their length is undefined.
    public init?(_ text: String) {
        var cursor = TextCursor(text)
        let isNegative = cursor.consume("-")
        guard cursor.consume("P") else { return nil }
        var total: Int64 = 0
        var fraction: Int64 = 0
        var parts = 0
        func add(_ count: Int64, times unit: Int64) -> Bool {
            let (product, tooMuch) = count.multipliedReportingOverflow(by: unit)
            let (sum, overflow) = total.addingReportingOverflow(product)
            guard !tooMuch, !overflow else { return false }
            total = sum
            parts += 1
            return true
        }
        if let days = cursor.digits(1...18) {
            guard cursor.consume("D"), add(days, times: 86_400) else { return nil }
        }
        if cursor.consume("T") {
            let before = parts
            var units: [(Character, Int64)] = [("H", 3600), ("M", 60), ("S", 1)]
            while let count = cursor.digits(1...18) {
                if cursor.consume(".") {
                    guard let digits = cursor.picoseconds(), cursor.next == 0x53 else { return nil }
                    fraction = digits.value
                }
                guard let unit = units.firstIndex(where: { cursor.consume($0.0) }), add(count, times: units[unit].1)
                else {
                    return nil
                }
                units.removeFirst(unit + 1)
            }
            guard parts > before else { return nil }
        }
        guard parts > 0, cursor.isAtEnd else { return nil }
        self.init(isNegative: isNegative, seconds: total, picoseconds: fraction)
    }

    public static func < (a: DayTimeDuration, b: DayTimeDuration) -> Bool {
        if a.isNegative != b.isNegative { return a.isNegative }
        let (x, y) = a.isNegative ? (b, a) : (a, b)
        return (x.seconds, x.picoseconds) < (y.seconds, y.picoseconds)
    }

    /// The non-zero days, hours, minutes and seconds; `PT0S` for zero.
    public var description: String { ShortText.string { write(&$0) } }

    /// The duration in hours, minutes and seconds, as V2 writes a time of day.
    public var textWithoutDays: String { ShortText.string { write(&$0, days: false) } }

    /// - Parameter days: whether days are written separately from hours.
    package func write(_ text: inout ShortText, days: Bool = true) {
        var rest = seconds
        if isNegative { text.add("-") }
        text.add("P")
        if days, rest >= 86_400 {
            text.add(rest / 86_400)
            text.add("D")
            rest %= 86_400
        }
        if rest == 0, picoseconds == 0, seconds > 0 { return }
        text.add("T")
        if rest >= 3600 {
            text.add(rest / 3600)
            text.add("H")
        }
        if rest % 3600 >= 60 {
            text.add(rest % 3600 / 60)
            text.add("M")
        }
        guard rest % 60 > 0 || picoseconds > 0 || seconds == 0 else { return }
        text.add(rest % 60)
        text.add(picoseconds: picoseconds, digits: significantDigits)
        text.add("S")
    }
}
