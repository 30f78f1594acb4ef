/// An `Edm.Date`: a day of the proleptic Gregorian calendar, years −9999 to 9999 and beyond.
public struct LocalDate: Sendable, Hashable {
    // Small integers, because they determine the size of `Value`.
    private let storedYear: Int32
    private let storedMonth: UInt8
    private let storedDay: UInt8

    /// The year. Year 0 exists and is a leap year (ISO 8601).
    public var year: Int { Int(storedYear) }
    /// The month, 1 to 12.
    public var month: Int { Int(storedMonth) }
    /// The day, 1 to the last day of the month.
    public var day: Int { Int(storedDay) }

    /// A limit beyond all real dates, small enough that date arithmetic cannot overflow.
    public static let yearLimit = 99_999_999

    /// 1 January 1970.
    public static let epoch = LocalDate(unchecked: 1970, 1, 1)

    /// Creates a date. Returns `nil` for a day that does not exist, and for years beyond ``yearLimit``.
    public init?(year: Int, month: Int, day: Int) {
        guard (-Self.yearLimit...Self.yearLimit).contains(year), (1...12).contains(month), day >= 1,
            day <= Self.lastDay(of: month, year: year)
        else { return nil }
        self.init(unchecked: year, month, day)
    }

    private init(unchecked year: Int, _ month: Int, _ day: Int) {
        storedYear = Int32(year)
        storedMonth = UInt8(month)
        storedDay = UInt8(day)
    }

    /// Creates a date from the days since 1 January 1970, negative before it. Returns `nil` beyond ``yearLimit``.
    public init?(daysSince1970 days: Int64) {
        guard days.magnitude < UInt64(Self.yearLimit) * 365 else { return nil }
        // The era arithmetic of Howard Hinnant's "chrono-compatible low-level date algorithms": years begin in March,
        // so that the leap day is the last day, and 400 years have a fixed number of days.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        self.init(
            unchecked: Int(yearOfEra + era * 400 + (month <= 2 ? 1 : 0)), Int(month),
            Int(dayOfYear - (153 * march + 2) / 5 + 1))
    }

    /// Days since 1 January 1970, negative before it.
    public var daysSince1970: Int64 {
        let year = Int64(month <= 2 ? self.year - 1 : self.year)
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * Int64(month > 2 ? month - 3 : month + 9) + 2) / 5 + Int64(day) - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func lastDay(of month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension LocalDate: Comparable, CustomStringConvertible {
    /// Parses `[-]YYYY-MM-DD`. A year of more than four digits must not begin with zero.
    public init?(_ text: String) {
        var cursor = TextCursor(text)
        guard let date = LocalDate(&cursor), cursor.isAtEnd else { return nil }
        self = date
    }

    init?(_ cursor: inout TextCursor) {
        let isNegative = cursor.consume("-")
        let start = cursor.index
        guard let year = cursor.digits(4...8), cursor.index - start == 4 || cursor.bytes[start] != 0x30,
            cursor.consume("-"), let month = cursor.digits(2), cursor.consume("-"), let day = cursor.digits(2)
        else { return nil }
        self.init(year: Int(isNegative ? -year : year), month: Int(month), day: Int(day))
    }

    public static func < (a: LocalDate, b: LocalDate) -> Bool {
        (a.year, a.month, a.day) < (b.year, b.month, b.day)
    }

    public var description: String { ShortText.string(write) }

    package func write(_ text: inout ShortText) {
        text.add(Int64(year), width: 4)
        text.add("-")
        text.add(Int64(month), width: 2)
        text.add("-")
        text.add(Int64(day), width: 2)
    }
}
