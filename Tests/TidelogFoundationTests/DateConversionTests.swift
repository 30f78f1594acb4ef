import Foundation
import SeededRandom
import Testing
import Tidelog
import TidelogFoundation

@Suite struct `Dates of Foundation` {
    private func moment(_ text: String) throws -> GlobalDateTime { try #require(GlobalDateTime(text)) }

    @Test(arguments: [
        "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.001Z", "1582-10-04T12:00:00Z", "1969-12-31T23:59:59.999Z",
        "1970-01-01T00:00:00Z", "2000-12-31T23:59:59.500Z", "2026-02-28T12:34:56.789Z", "9999-12-31T23:59:59.999Z",
    ])
    func `a time with milliseconds survives the way to a Date and back`(text: String) throws {
        let value = try moment(text)
        #expect(GlobalDateTime(Date(value)) == value)
        #expect(LocalDateTime(utc: Date(value)) == value.local)
    }

    @Test func `a Date is the instant that Foundation knows by this text`() throws {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for text in ["1600-02-29T01:02:03.004Z", "2026-02-28T12:34:56.789Z", "9999-12-31T23:59:59.999Z"] {
            let date = try style.parse(text)
            #expect(GlobalDateTime(date)?.description == text)
            #expect(try abs(Date(moment(text)).timeIntervalSince(date)) < 0.000_1)
        }
    }

    @Test func `the offset is lost and the instant is kept`() throws {
        let delhi = try moment("2026-01-01T05:30:00+05:30")
        #expect(GlobalDateTime(Date(delhi))?.description == "2026-01-01T00:00:00Z")
        #expect(GlobalDateTime(Date(delhi), offsetMinutes: 330) == delhi)
    }

    @Test func `a leap second is the second that follows it`() throws {
        #expect(Date(try moment("2016-12-31T23:59:60Z")) == Date(try moment("2017-01-01T00:00:00Z")))
    }

    @Test(arguments: [
        (0, "2026-01-01T00:00:01Z"), (1, "2026-01-01T00:00:00.9Z"), (3, "2026-01-01T00:00:00.877Z"),
        (-7, "2026-01-01T00:00:01Z"),
    ])
    func `a Date is rounded to the requested number of digits`(digits: Int, text: String) throws {
        let date = Date(try moment("2026-01-01T00:00:00.8765432Z"))
        #expect(GlobalDateTime(date, fractionDigits: digits)?.description == text)
    }

    @Test func `rounding completes the second, the day and the year`() throws {
        let date = Date(try moment("2025-12-31T23:59:59.9996Z"))
        #expect(GlobalDateTime(date)?.description == "2026-01-01T00:00:00Z")
        #expect(GlobalDateTime(Date(timeIntervalSinceReferenceDate: -1e-20))?.description == "2001-01-01T00:00:00Z")
        #expect(Instant(Date(timeIntervalSinceReferenceDate: -0.0)) == Instant(secondsSince1970: 978_307_200))
    }

    static let impossible: [TimeInterval] = [
        .nan, .infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 0x1p53, -0x1p53, 1e16, 4e15,
        -4e15,
    ]

    @Test(arguments: impossible)
    func `a date beyond all years has no value`(seconds: TimeInterval) throws {
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        let zone = try #require(TimeZone(identifier: "Asia/Kolkata"))
        #expect(GlobalDateTime(date) == nil)
        #expect(GlobalDateTime(date, in: zone) == nil)
        #expect(LocalDateTime(utc: date) == nil)
        #expect(LocalDateTime(date, in: zone) == nil)
        #expect(LocalDate(date, in: zone) == nil)
        #expect(LocalTime(date, in: zone) == nil)
    }

    @Test func `an offset of a day, and the most distant values, trap nothing`() throws {
        #expect(GlobalDateTime(Date(), offsetMinutes: 1440) == nil)
        #expect(GlobalDateTime(Date(), offsetMinutes: .min) == nil)
        for year in [LocalDate.yearLimit, -LocalDate.yearLimit] {
            let day = try #require(LocalDate(year: year, month: 1, day: 1))
            for zone in TimeZone.knownTimeZoneIdentifiers.prefix(20).compactMap(TimeZone.init(identifier:)) {
                #expect(Date(startOf: day, in: zone).timeIntervalSince1970.isFinite)
            }
        }
        for seconds in [Int64.min, .max] {
            let instant = try #require(Instant(secondsSince1970: seconds))
            #expect(Instant(Date(instant)) == nil)
        }
    }

    @Test func `times of the store are dates`() {
        #expect(Date(millisecondsSince1970: 1_500).timeIntervalSince1970 == 1.5)
        #expect(PointInTime.date(Date(timeIntervalSince1970: -0.0015)) == .time(-2))
        #expect(PointInTime.date(Date(timeIntervalSince1970: 1e300)) == .time(.max))
        #expect(PointInTime.date(Date(timeIntervalSince1970: -.infinity)) == .time(.min))
        #expect(PointInTime.date(Date(timeIntervalSince1970: .nan)) == .time(.min))
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `random milliseconds of the years 1 to 9999 and microseconds around today survive`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for round in 0..<3_000 {
            let place = "seed \(seed), round \(round)"
            let wide = try #require(
                Instant(
                    secondsSince1970: .random(in: -62_135_596_800...253_402_300_799, using: &random),
                    picoseconds: .random(in: 0..<1_000, using: &random) * 1_000_000_000))
            #expect(Instant(Date(wide)) == wide, "\(place)")
            // Within 2³³ seconds of 2001, a date distinguishes microseconds.
            let near = try #require(
                Instant(
                    secondsSince1970: 978_307_200 + .random(in: -8_589_934_592..<8_589_934_592, using: &random),
                    picoseconds: .random(in: 0..<1_000_000, using: &random) * 1_000_000))
            #expect(Instant(Date(near), fractionDigits: 6) == near, "\(place)")
        }
    }

    @Test func `any bits of a Double are a date that traps nothing`() throws {
        var random = SeededRandom(seed: 7)
        let zone = try #require(TimeZone(identifier: "America/New_York"))
        for round in 0..<5_000 {
            let date = Date(timeIntervalSinceReferenceDate: Double(bitPattern: random.next()))
            let value = GlobalDateTime(date, fractionDigits: Int.random(in: -2...14, using: &random))
            _ = LocalDateTime(date, in: zone)
            _ = date.propertyValue
            guard let value else { continue }
            #expect(abs(Date(value).timeIntervalSince(date)) <= 1, "seed 7, round \(round): \(date)")
        }
    }
}
