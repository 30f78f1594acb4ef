import EDM
import Testing

@Suite struct `Rounded and formatted decimals` {
    private func decimal(_ text: String) throws -> DecimalValue { try #require(DecimalValue(text)) }

    /// The results for 2.5, -2.5, 2.4, -2.6 and 3.5.
    @Test(arguments: [
        (FloatingPointRoundingRule.up, ["3", "-2", "3", "-2", "4"]), (.down, ["2", "-3", "2", "-3", "3"]),
        (.towardZero, ["2", "-2", "2", "-2", "3"]), (.awayFromZero, ["3", "-3", "3", "-3", "4"]),
        (.toNearestOrEven, ["2", "-2", "2", "-3", "4"]), (.toNearestOrAwayFromZero, ["3", "-3", "2", "-3", "4"]),
    ])
    func `each rule rounds as it does for Double`(rule: FloatingPointRoundingRule, results: [String]) throws {
        let texts = ["2.5", "-2.5", "2.4", "-2.6", "3.5"]
        #expect(try texts.map { try decimal($0).rounded(toScale: 0, rule).text } == results)
        for text in texts {
            let double = try decimal("\(#require(Double(text)).rounded(rule))")
            #expect(try decimal(text).rounded(toScale: 0, rule) == double)
        }
    }

    @Test(arguments: [
        ("1.005", 2, "1.01"), ("1.5", 2, "1.50"), ("1.50", 1, "1.5"), ("999.999", 2, "1000.00"), ("1250", -2, "1300"),
        ("49", -2, "0"), ("50", -2, "100"), ("-1250", -2, "-1300"), ("0", 2, "0.00"), ("0.05", 0, "0"),
        ("INF", 2, "INF"),
    ])
    func `a number is rounded to a scale, before and after the point`(text: String, scale: Int, result: String) throws {
        #expect(try decimal(text).rounded(toScale: scale).text == result)
    }

    @Test(arguments: [("1.500", "1.5"), ("100", "100"), ("0.00", "0"), ("-7.0", "-7"), ("NaN", "NaN")])
    func `a normalized number has no needless zeros`(text: String, result: String) throws {
        #expect(try decimal(text).normalized.text == result)
    }

    @Test(arguments: [
        ("1234567.891", "1,234,567.89"), ("-1234.5", "-1,234.50"), ("999.999", "1,000.00"), ("0.005", "0.01"),
        ("-0.001", "0.00"), ("12", "12.00"), ("123", "123.00"), ("INF", "INF"), ("NaN", "NaN"),
    ])
    func `a number is formatted with groups and two digits`(text: String, result: String) throws {
        #expect(try decimal(text).formatted(scale: 2, groupingSeparator: ",") == result)
    }

    @Test func `separators are any text, and without a scale all digits stay`() throws {
        #expect(
            try decimal("1234.5670").formatted(decimalSeparator: ",", groupingSeparator: "\u{202F}")
                == "1\u{202F}234,5670")
        #expect(try decimal("1234.5670").formatted() == "1234.5670")
        let long = try decimal(String(repeating: "7", count: 4096))
        #expect(long.formatted(groupingSeparator: ".").utf8.count == 4096 + 1365)
    }

    @Test func `integers of any size are decimals`() {
        #expect(DecimalValue(exactly: UInt64.max)?.text == "18446744073709551615")
        #expect(DecimalValue(exactly: Int128.min)?.text == "-170141183460469231731687303715884105728")
        #expect(DecimalValue(exactly: -5 as Int8) == -5)
    }
}
