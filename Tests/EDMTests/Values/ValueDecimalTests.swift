import EDM
import Testing

@Suite struct `Decimal values` {
    @Test(arguments: [
        ("1.50", "1.50"), ("+007", "7"), ("-0", "0"), ("-0.00", "0.00"), ("3.199116334E7", "31991163.34"),
        ("-1.234567e3", "-1234.567"), ("1e-3", "0.001"), ("12E2", "1200"), ("0e999999999999", "0"),
        ("0.314e+1", "3.14"), ("INF", "INF"), ("-INF", "-INF"), ("NaN", "NaN"),
    ])
    func `a decimal keeps its digits and is written without an exponent`(text: String, canonical: String) {
        #expect(DecimalValue(text)?.text == canonical)
    }

    @Test(arguments: [
        "", "-", ".1", "1.", "1e", "0x42", "1M", "1 ", " 1", "inf", "1e5000", "1e-999999999999", "1.2.3", "١",
    ])
    func `text that is not a number or too long is refused`(text: String) {
        #expect(DecimalValue(text) == nil)
    }

    @Test func `decimals that differ only in trailing zeros are equal and have equal hashes`() throws {
        let a = try #require(DecimalValue("1.50"))
        let b = try #require(DecimalValue("1.5"))
        #expect(a == b)
        #expect(a.hashValue == b.hashValue)
        #expect(a.text != b.text)
    }

    @Test func `decimals sort by value and not by text`() {
        let texts = [
            "-INF", "-10", "-9.5", "-9.49", "0", "0.001", "0.01", "9", "10", "10.000000000000000000001", "INF", "NaN",
        ]
        let sorted = texts.reversed().compactMap { DecimalValue($0) }.sorted().map(\.text)
        #expect(sorted == texts)
    }

    @Test func `decimals with the same text are equal`() throws {
        let digits = String(repeating: "7", count: DecimalValue.maximumDigits)
        for text in ["NaN", "INF", "-INF", "0", "-1.50", digits, "-0." + digits.dropFirst()] {
            // Two instances of the text, which do not share their memory.
            let (a, b) = (
                try #require(DecimalValue(text)),
                try #require(DecimalValue(String(decoding: Array(text.utf8), as: UTF8.self)))
            )
            #expect(a == b && !(a < b) && !(b < a) && a.hashValue == b.hashValue, "\(text.prefix(20))")
        }
        let (last, other) = (try #require(DecimalValue(digits)), try #require(DecimalValue(digits.dropLast() + "8")))
        #expect(last != other && last < other)
        #expect(DecimalValue("-INF") != DecimalValue("INF") && DecimalValue("NaN") != DecimalValue("INF"))
    }

    @Test func `precision and scale do not count trailing zeros`() throws {
        let number = try #require(DecimalValue("0.003906250"))
        #expect(number.precision == 6)
        #expect(number.scale == 8)
        #expect(DecimalValue(100).precision == 3)
    }

    @Test func `integers and floating point numbers are converted exactly to decimals`() {
        #expect(DecimalValue(Int64.min).text == "-9223372036854775808")
        #expect(DecimalValue(Int64.min).int64Value == Int64.min)
        #expect(DecimalValue(1e21).text == "1000000000000000000000")
        #expect(DecimalValue(-0.1).text == "-0.1")
        #expect(DecimalValue(2.5e-300).doubleValue == 2.5e-300)
        #expect(DecimalValue(Double.greatestFiniteMagnitude).doubleValue == .greatestFiniteMagnitude)
    }
}
