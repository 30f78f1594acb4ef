import EDM
import SeededRandom
import Testing

@Suite struct `Conversions of dates and times` {
    private func moment(_ text: String) throws -> GlobalDateTime { try #require(GlobalDateTime(text)) }

    @Test(arguments: [
        ("2024-03-31T00:30:00+02:00", "2024-03-30T22:30:00"), ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00"),
        ("9999-12-31T23:59:59.999999999999-00:01", "10000-01-01T00:00:59.999999999999"),
        ("1972-06-30T23:59:60Z", "1972-07-01T00:00:00"), ("0001-01-01T00:00:00+14:00", "0000-12-31T10:00:00"),
    ])
    func `a point in time becomes a date and time in UTC`(text: String, utc: String) throws {
        #expect(try LocalDateTime(utc: moment(text))?.description == utc)
        #expect(try LocalDateTime(utc: moment(text).instant)?.instant == moment(text).instant)
    }

    @Test func `a date and time of V2 survives the way to V4 and back`() throws {
        let written = try #require(LocalDateTime("2024-02-29T12:34:56.120"))
        #expect(LocalDateTime(utc: GlobalDateTime(utc: written))?.description == written.description)
    }

    @Test(arguments: [-1439, -60, 0, 330, 840, 1439])
    func `another offset keeps the point in time`(offset: Int) throws {
        for text in ["2024-12-31T23:59:59.123456789012-11:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"] {
            let moved = try #require(try moment(text).moved(toOffsetMinutes: offset))
            #expect(try moved.instant == moment(text).instant)
            #expect(moved.offsetMinutes == offset)
            #expect(GlobalDateTime(moved.instant, offsetMinutes: offset)?.instant == moved.instant)
        }
    }

    @Test func `an impossible offset, and times beyond all years, have no conversion`() throws {
        let last = try #require(LocalDate(year: LocalDate.yearLimit, month: 12, day: 31))
        let edge = GlobalDateTime(utc: LocalDateTime(date: last, time: try #require(LocalTime("23:59"))))
        for offset in [1440, -1440, Int.max, Int.min, Int(Int16.max)] {
            #expect(edge.moved(toOffsetMinutes: offset) == nil)
            #expect(GlobalDateTime(edge.instant, offsetMinutes: offset) == nil)
        }
        for seconds in [Int64.min, Int64.max] {
            let instant = try #require(Instant(secondsSince1970: seconds, picoseconds: 1))
            #expect(LocalDateTime(utc: instant) == nil)
            #expect(GlobalDateTime(instant, offsetMinutes: 60) == nil)
        }
        #expect(Instant(secondsSince1970: 0, picoseconds: -1) == nil)
        #expect(Instant(secondsSince1970: 0, picoseconds: LocalTime.picosecondsPerSecond) == nil)
    }

    @Test(arguments: [
        ("PT0S", "00:00:00"), ("PT23H59M59.999S", "23:59:59.999"), ("P1D", nil), ("-PT1S", nil), ("PT24H", nil),
        ("P106751991167300DT15H30M7S", nil),
    ])
    func `a duration of less than a day is a time of day`(duration: String, time: String?) throws {
        #expect(try LocalTime(#require(DayTimeDuration(duration)))?.description == time)
    }

    @Test func `a time of day is written as V2 writes it`() throws {
        let time = try #require(LocalTime("13:20:00.500"))
        #expect(DayTimeDuration(time).description == "PT13H20M0.5S")
        #expect(LocalTime(DayTimeDuration(time)) == time)
    }

    @Test(arguments: [
        (3, "23:59:59.999"), (0, "23:59:59"), (12, "23:59:59.999999999999"), (-4, "23:59:59"),
        (99, "23:59:59.999999999999"),
    ])
    func `truncation never leaves the day`(digits: Int, text: String) throws {
        let date = "2024-12-31T"
        let full = try moment(date + "23:59:59.999999999999-03:00")
        #expect(full.truncated(toFractionDigits: digits).description == date + text + "-03:00")
        #expect(full.local.truncated(toFractionDigits: digits).description == date + text)
    }

    @Test func `truncation adds no digits`() throws {
        #expect(try #require(LocalTime("10:00:00.5")).truncated(toFractionDigits: 6).description == "10:00:00.5")
    }

    @Test(arguments: [
        ("PT0S", Duration.zero), ("PT1.5S", .milliseconds(1500)),
        ("-PT0.000000000001S", .init(attoseconds: -1_000_000)),
        ("P1D", .seconds(86_400)),
    ])
    func `a duration of Swift is one of OData`(text: String, duration: Duration) throws {
        let value = try #require(DayTimeDuration(text))
        #expect(Duration(value) == duration)
        #expect(DayTimeDuration(duration) == value)
    }

    @Test func `less than a picosecond is cut off, and too long a duration is refused`() throws {
        #expect(DayTimeDuration(Duration(attoseconds: 1_999_999))?.description == "PT0.000000000001S")
        #expect(DayTimeDuration(Duration(attoseconds: -999_999)) == .zero)
        for attoseconds in [Int128.max, .min] { #expect(DayTimeDuration(Duration(attoseconds: attoseconds)) == nil) }
        for sign in [false, true] {
            let longest = try #require(
                DayTimeDuration(isNegative: sign, seconds: .max, picoseconds: LocalTime.picosecondsPerSecond - 1))
            #expect(DayTimeDuration(Duration(longest)) == longest)
        }
    }

    @Test(arguments: [41, 42] as [UInt64])
    func `random values survive the way through an instant and a Duration`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for round in 0..<2_000 {
            // The years −9999 to 9999.
            let instant = try #require(
                Instant(
                    secondsSince1970: .random(in: -377_705_116_800...253_402_300_799, using: &random),
                    picoseconds: .random(in: 0..<LocalTime.picosecondsPerSecond, using: &random)))
            let offset = Int.random(in: -1439...1439, using: &random)
            let place = "seed \(seed), round \(round): \(instant), \(offset)"
            let value = try #require(GlobalDateTime(instant, offsetMinutes: offset), "\(place)")
            #expect(value.instant == instant, "\(place)")
            #expect(GlobalDateTime(value.description) == value, "\(place)")
            let duration = try #require(
                DayTimeDuration(
                    isNegative: .random(using: &random), seconds: .random(in: 0 ... .max, using: &random),
                    picoseconds: instant.picoseconds))
            #expect(DayTimeDuration(Duration(duration)) == duration, "\(place)")
        }
    }
}
