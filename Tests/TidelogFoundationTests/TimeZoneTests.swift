import Foundation
import SeededRandom
import Testing
import Tidelog
import TidelogFoundation

@Suite struct `Days and times in time zones` {
    private let berlin: TimeZone

    init() throws { berlin = try #require(TimeZone(identifier: "Europe/Berlin")) }

    private func date(_ text: String) throws -> Date { Date(try #require(GlobalDateTime(text))) }

    @Test func `a point in time has the day and time that clocks show there`() throws {
        let date = try date("2026-06-30T22:30:00Z")
        #expect(LocalDate(date, in: berlin)?.description == "2026-07-01")
        #expect(LocalTime(date, in: berlin)?.description == "00:30:00")
        #expect(LocalDateTime(date, in: berlin)?.description == "2026-07-01T00:30:00")
        #expect(GlobalDateTime(date, in: berlin)?.description == "2026-07-01T00:30:00+02:00")
        #expect(LocalDate(date, in: .gmt)?.description == "2026-06-30")
    }

    @Test(arguments: [
        // Winter, summer, skipped, twice, and the minutes around them.
        ("2026-01-15T12:00:00", "2026-01-15T11:00:00Z"), ("2026-07-15T12:00:00", "2026-07-15T10:00:00Z"),
        ("2026-03-29T01:59:59", "2026-03-29T00:59:59Z"), ("2026-03-29T02:30:00", "2026-03-29T01:30:00Z"),
        ("2026-03-29T03:00:00", "2026-03-29T01:00:00Z"), ("2026-10-25T01:59:59", "2026-10-24T23:59:59Z"),
        ("2026-10-25T02:30:00", "2026-10-25T00:30:00Z"), ("2026-10-25T03:00:00", "2026-10-25T02:00:00Z"),
        ("0001-01-01T00:00:00", "0000-12-31T23:06:32Z"), ("2026-07-15T12:00:00.123", "2026-07-15T10:00:00.123Z"),
    ])
    func `a local time is a point in time, also when the clocks change`(local: String, utc: String) throws {
        let date = Date(try #require(LocalDateTime(local)), in: berlin)
        #expect(GlobalDateTime(date)?.description == utc)
    }

    @Test func `a day that begins after midnight begins at its first time`() throws {
        // In Beirut the clocks skipped from 00:00 to 01:00.
        let beirut = try #require(TimeZone(identifier: "Asia/Beirut"))
        let day = try #require(LocalDate("2022-03-27"))
        #expect(GlobalDateTime(Date(startOf: day, in: beirut))?.description == "2022-03-26T22:00:00Z")
        #expect(LocalTime(Date(startOf: day, in: beirut), in: beirut)?.description == "01:00:00")
    }

    @Test func `an offset with seconds is written in minutes and keeps the instant`() throws {
        let date = try date("1850-01-01T00:00:00Z")
        let value = try #require(GlobalDateTime(date, in: berlin))
        #expect(value.description == "1850-01-01T00:53:00+00:53")
        #expect(value.instant == Instant(date))
        #expect(LocalDateTime(date, in: berlin)?.description == "1850-01-01T00:53:28")
    }

    @Test(arguments: [51, 52] as [UInt64])
    func `random local times are those of Foundation's calendar`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let zones = try ["Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu"]
            .map { try #require(TimeZone(identifier: $0)) }
        for round in 0..<500 {
            let zone = zones[Int.random(in: 0..<zones.count, using: &random)]
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = zone
            let date = Date(
                timeIntervalSince1970: Double(Int64.random(in: 0...4_000_000_000, using: &random)))
            let place = "seed \(seed), round \(round): \(date) in \(zone.identifier)"
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
            let local = try #require(LocalDateTime(date, in: zone), "\(place)")
            #expect(LocalDateTime(parts) == local, "\(place)")
            // The same local time can be another date only if the clocks go back.
            let again = Date(local, in: zone)
            #expect(LocalDateTime(again, in: zone) == local, "\(place)")
            #expect(again <= date, "\(place)")
            #expect(GlobalDateTime(date, in: zone).map { Date($0) } == date, "\(place)")
            let start = Date(startOf: local.date, in: zone)
            #expect(start == calendar.startOfDay(for: date), "\(place)")
        }
    }

    // MARK: Components

    @Test func `components are days and times without a zone`() throws {
        let value = try #require(LocalDateTime("2024-02-29T23:59:58.123456789012"))
        let parts = DateComponents(value)
        #expect(parts.nanosecond == 123_456_789)
        #expect(LocalDate(parts) == value.date)
        #expect(LocalTime(parts)?.description == "23:59:58.123456789")
        #expect(
            LocalDateTime(DateComponents(value.truncated(toFractionDigits: 9))) == value.truncated(toFractionDigits: 9))
    }

    @Test(arguments: [
        DateComponents(year: 2023, month: 2, day: 29), DateComponents(year: 2024, month: 2), DateComponents(),
        DateComponents(year: .max, month: 1, day: 1), DateComponents(year: .min, month: 1, day: 1),
        DateComponents(era: 0, year: .min, month: 1, day: 1), DateComponents(year: 1, month: .max, day: .min),
        DateComponents(calendar: Calendar(identifier: .buddhist), year: 2567, month: 1, day: 1),
    ])
    func `components without a Gregorian day have no date`(parts: DateComponents) {
        #expect(LocalDate(parts) == nil)
    }

    @Test(arguments: [
        DateComponents(hour: 24, minute: 0), DateComponents(hour: 23), DateComponents(minute: 5),
        DateComponents(hour: 23, minute: 59, second: 60), DateComponents(hour: 1, minute: 1, nanosecond: -1),
        DateComponents(hour: .max, minute: .min), DateComponents(hour: 1, minute: 1, nanosecond: 1_000_000_000),
    ])
    func `components outside of a day have no time`(parts: DateComponents) {
        #expect(LocalTime(parts) == nil)
    }

    @Test func `the year 1 before Christ is the year 0`() {
        #expect(LocalDate(DateComponents(era: 0, year: 1, month: 12, day: 31))?.description == "0000-12-31")
        #expect(LocalDate(DateComponents(era: 1, year: 1, month: 1, day: 1))?.description == "0001-01-01")
    }
}
