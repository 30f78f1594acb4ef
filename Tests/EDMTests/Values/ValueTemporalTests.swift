import EDM
import Testing

@Suite struct `Dates and times` {
    @Test func `every date of four centuries is equal after conversion to a day number and back`() throws {
        var date = try #require(LocalDate(year: 1800, month: 1, day: 1))
        let first = date.daysSince1970
        for offset in 1...146_097 {
            let next = try #require(LocalDate(daysSince1970: first + Int64(offset)))
            #expect(date < next)
            #expect(next.daysSince1970 == first + Int64(offset))
            date = next
        }
        #expect(date.description == "2200-01-01")
    }

    @Test(arguments: [
        ("1970-01-01", 0), ("1969-12-31", -1), ("2000-02-29", 11_016), ("0000-03-01", -719_468),
        ("-0001-12-31", -719_529),
    ])
    func `a date is a number of days from 1970`(text: String, days: Int64) throws {
        #expect(try #require(LocalDate(text)).daysSince1970 == days)
        #expect(LocalDate(daysSince1970: days)?.description == text)
    }

    @Test(arguments: [
        "2012-02-30", "1900-02-29", "2012-13-01", "2012-00-01", "2012-01-00", "2012-1-01", "02012-01-01", "12-01-01",
        "",
        "2012-01-01T", "+2012-01-01", "999999999-01-01",
    ])
    func `an invalid date is refused`(text: String) {
        #expect(LocalDate(text) == nil)
    }

    @Test func `conversions from the smallest and largest numbers do not trap`() {
        for number in [Int64.min, Int64.min + 1, -1, Int64.max - 1, Int64.max] {
            if let date = LocalDate(daysSince1970: number) { #expect(date.daysSince1970 == number) }
            if let dateTime = LocalDateTime(millisecondsSince1970: number) {
                #expect(dateTime.millisecondsSince1970 == number)
            }
            if let dateTime = GlobalDateTime(millisecondsSince1970: number, offsetMinutes: 840) {
                #expect(dateTime.millisecondsSince1970 == number)
            }
        }
    }

    @Test(arguments: [
        "12:34:56", "00:00:00", "23:59:59.999999999999", "01:02:03.100", "04:05:06.042",
    ])
    func `a time is written as it was parsed`(text: String) {
        #expect(LocalTime(text)?.description == text)
    }

    @Test(arguments: [
        "24:00:00", "12:60:00", "12:00:60", "1:02:03", "11:12:13.", "11:12:13.0000000000000", "111213", "11:12:13:14",
    ])
    func `an invalid time is refused`(text: String) {
        #expect(LocalTime(text) == nil)
    }

    @Test func `the written precision of a time is kept and does not affect equality`() throws {
        let a = try #require(LocalTime("10:00:00.500"))
        let b = try #require(LocalTime("10:00:00.5"))
        #expect(a == b)
        #expect(a.hashValue == b.hashValue)
        #expect(a.description == "10:00:00.500")
    }

    @Test(arguments: [
        "2012-02-29T23:32:02Z", "2012-02-29T23:32:02.1234567+05:30", "0001-01-01T00:00:00.000000000001-14:00",
        "12000-01-01T00:00:00Z", "-0044-03-15T12:00:00Z",
    ])
    func `a date and time with an offset is written as it was parsed`(text: String) {
        #expect(GlobalDateTime(text)?.description == text)
    }

    @Test func `date-times with different offsets are different values even if the instant is the same`() throws {
        let utc = try #require(GlobalDateTime("2020-01-01T00:00:00Z"))
        let delhi = try #require(GlobalDateTime("2020-01-01T05:30:00+05:30"))
        #expect(utc != delhi)
        #expect(utc.instant == delhi.instant)
        #expect(utc.millisecondsSince1970 == 1_577_836_800_000)
        #expect(GlobalDateTime(millisecondsSince1970: 1_577_836_800_000, offsetMinutes: 330) == delhi)
    }

    @Test func `a leap second is read as the next second`() {
        #expect(GlobalDateTime("1972-06-30T23:59:60Z")?.description == "1972-07-01T00:00:00Z")
        #expect(GlobalDateTime("1972-07-01T05:29:60+05:30")?.description == "1972-07-01T05:30:00+05:30")
    }

    @Test func `milliseconds before 1970 are rounded towards the past`() {
        #expect(LocalDateTime(millisecondsSince1970: -1999)?.description == "1969-12-31T23:59:58.001")
        #expect(LocalDateTime("1969-12-31T23:59:58.0019")?.millisecondsSince1970 == -1999)
    }

    @Test(arguments: [
        ("PT10S", "PT10S"), ("-PT0.01S", "-PT0.01S"), ("P1DT24H", "P2D"), ("PT2M3S", "PT2M3S"), ("PT0S", "PT0S"),
        ("-PT0S", "PT0S"), ("PT90M", "PT1H30M"), ("P50903316DT2H25M4S", "P50903316DT2H25M4S"), ("PT2.900S", "PT2.9S"),
        ("P6DT23H59M59.9999S", "P6DT23H59M59.9999S"),
    ])
    func `a duration is written in its largest units`(text: String, canonical: String) {
        #expect(DayTimeDuration(text)?.description == canonical)
    }

    @Test(arguments: [
        "P", "PT", "P1DT", "PT-1H", "P1Y", "P2012Y2M29DT23H32M2S", "P1M6DT1S", "+PT1S", "PT1S1M", "PT1.S", "PT1.5H",
        "1S",
        "PT999999999999999999H", "P1D1H",
    ])
    func `a duration with years or months, out of order or too long is refused`(text: String) {
        #expect(DayTimeDuration(text) == nil)
    }

    @Test func `durations sort by length with negative durations first`() {
        let texts = ["-PT2S", "-PT1.5S", "-PT1S", "PT0S", "PT1S", "PT1.5S"]
        #expect(texts.reversed().compactMap { DayTimeDuration($0) }.sorted().map(\.description) == texts)
    }

    @Test func `a GUID is parsed in upper and lower case and written in lower case`() {
        #expect(
            GuidValue("AABBCCDD-aabb-ccdd-eeff-AABBCCDDEEFF")?.description == "aabbccdd-aabb-ccdd-eeff-aabbccddeeff")
        #expect(GuidValue(high: 0, low: 1).description == "00000000-0000-0000-0000-000000000001")
    }

    @Test(arguments: [
        "", "AABBCCDDAABBCCDDEEFFAABBCCDDEEFF", "01234g67-89ab-cdef-0123-456789abcdef",
        "01234567-89ab-cdef-0123-456789abcde", "01234567-89ab-cdef-0123-456789abcdef0",
    ])
    func `an invalid GUID is refused`(text: String) {
        #expect(GuidValue(text) == nil)
    }
}
