import Foundation
import SeededRandom
import Testing
import Tidelog
import TidelogFoundation

@Suite struct `Numbers, GUIDs, bytes and URLs of Foundation` {
    private func decimal(_ text: String) throws -> DecimalValue { try #require(DecimalValue(text)) }

    // MARK: Decimal

    static let decimals: [Decimal] = [
        0, 1, -1, .pi, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
        .leastFiniteMagnitude,
        Decimal(sign: .minus, exponent: -128, significand: 7), Decimal(sign: .plus, exponent: 127, significand: 3),
        Decimal(UInt64.max), Decimal(sign: .plus, exponent: -10, significand: Decimal(Int64.max)), .nan,
    ]

    @Test(arguments: decimals)
    func `every Decimal survives the way to a decimal of OData and back`(number: Decimal) throws {
        let value = DecimalValue(number)
        let back = try #require(Decimal(value))
        #expect(number.isNaN ? back.isNaN : back == number, "\(value)")
        #expect(try #require(Decimal(exactly: value)).isNaN == number.isNaN)
    }

    @Test(
        arguments: [
            ("1.50", "1.5"), ("-0.00", "0"), ("0.1", "0.1"), ("12345678901234567890123456789012345678", nil),
            ("0.12345678901234567890123456789012345678", nil), ("1e127", nil), ("-1e-128", nil),
            ("340282366920938463463374607431768211455", nil),
        ] as [(String, String?)])
    func `a decimal that fits is the same number`(text: String, description: String?) throws {
        let number = try #require(Decimal(exactly: decimal(text)))
        #expect(try DecimalValue(number) == decimal(text))
        #expect(number.description == description ?? number.description)
    }

    @Test(arguments: [
        ("123456789012345678901234567890123456785", "123456789012345678901234567890123456785"),
        ("923456789012345678901234567890123456785", "923456789012345678901234567890123456780"),
        ("923456789012345678901234567890123456795", "923456789012345678901234567890123456800"),
        ("0.99999999999999999999999999999999999999999", "1"), ("3e-129", "0"), ("-6e-129", "-1e-128"),
    ])
    func `a longer decimal is rounded half to even, and not exact`(text: String, rounded: String) throws {
        let value = try decimal(text)
        #expect(try DecimalValue(#require(Decimal(value))) == decimal(rounded))
        #expect(try (Decimal(exactly: value) != nil) == (decimal(rounded) == value))
    }

    @Test func `a decimal out of range is none`() throws {
        for text in ["INF", "-INF", "1e166", "-1e4000", "9" + String(repeating: "0", count: 4095)] {
            #expect(try Decimal(decimal(text)) == nil)
            #expect(try Decimal(exactly: decimal(text)) == nil)
        }
        #expect(try Decimal(decimal("0." + String(repeating: "0", count: 4094) + "1")) == 0)
        #expect(try Decimal(decimal(String(repeating: "7", count: 4096))) == nil)
        #expect(try Decimal(decimal("3." + String(repeating: "3", count: 4095))) != nil)
    }

    @Test(arguments: [61, 62] as [UInt64])
    func `random Decimals survive, and their sums are those of Foundation`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        func number(_ range: ClosedRange<Int>) -> Decimal {
            let significand =
                Decimal(UInt64.random(in: 0 ... .max, using: &random))
                * Decimal(UInt32.random(in: 1...9, using: &random))
            return Decimal(
                sign: Bool.random(using: &random) ? .minus : .plus, exponent: .random(in: range, using: &random),
                significand: significand)
        }
        for round in 0..<1_000 {
            let wide = number(-128...127)
            #expect(Decimal(exactly: DecimalValue(wide)) == wide, "seed \(seed), round \(round): \(wide)")
            let (a, b) = (number(-6...6), number(-6...6))
            #expect(
                DecimalValue(a) + DecimalValue(b) == DecimalValue(a + b), "seed \(seed), round \(round): \(a), \(b)")
            #expect((DecimalValue(a) < DecimalValue(b)) == (a < b), "seed \(seed), round \(round): \(a), \(b)")
        }
    }

    // MARK: UUID, Data, URL

    @Test(arguments: [71] as [UInt64])
    func `a UUID has the text of its GUID`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for round in 0..<500 {
            let guid = GuidValue(high: random.next(), low: random.next())
            #expect(UUID(guid).uuidString.lowercased() == guid.description, "seed \(seed), round \(round)")
            #expect(GuidValue(UUID(guid)) == guid, "seed \(seed), round \(round)")
        }
    }

    @Test func `bytes are Data`() {
        for bytes in [[], [0], [UInt8](0...255)] as [[UInt8]] {
            #expect(Data(propertyValue: .binary(bytes)) == Data(bytes))
            #expect(Data(bytes).propertyValue == .binary(bytes))
        }
        #expect(Data(propertyValue: .string("AAAA")) == nil)
    }

    @Test(arguments: [
        "https://example.com/a%20b?q=%C3%BC#f", "mailto:ada@example.com", "/relative", "urn:isbn:0451450523",
        "HTTP://Example.COM",
    ])
    func `a text that is a URL survives`(text: String) throws {
        let url = try #require(URL(propertyValue: .string(text)))
        #expect(url.propertyValue == .string(text))
    }

    @Test(arguments: [
        "", "a b", "http://[", "https://example.com/ü", "\0", "%%", String(repeating: "é ", count: 5_000),
    ])
    func `another text reads as no URL`(text: String) {
        #expect(URL(propertyValue: .string(text)) == nil)
    }

    // MARK: TimeInterval and Duration

    @Test(
        arguments: [
            (0, "PT0S"), (-0.0, "PT0S"), (0.1, "PT0.1S"), (-1.5, "-PT1.5S"), (1_000_000.1, "P11DT13H46M40.1S"),
            (1e-12, "PT0.000000000001S"), (4e-13, "PT0S"), (9.2e18, "P106481481481481DT11H33M20S"),
        ] as [(TimeInterval, String)])
    func `a time interval has the digits of its shortest text`(seconds: TimeInterval, text: String) {
        let duration = DayTimeDuration(timeInterval: seconds)
        #expect(duration?.description == text)
    }

    @Test(arguments: [.nan, .infinity, -.infinity, 1e19, -1e300] as [TimeInterval])
    func `a time interval that is too long is no duration`(seconds: TimeInterval) {
        #expect(DayTimeDuration(timeInterval: seconds) == nil)
    }

    @Test(arguments: [81] as [UInt64])
    func `random time intervals of at most twelve digits survive`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for round in 0..<1_000 {
            let seconds = Double(Int64.random(in: -999_999_999_999...999_999_999_999, using: &random)) / 1000
            #expect(
                DayTimeDuration(timeInterval: seconds)?.timeInterval == seconds,
                "seed \(seed), round \(round): \(seconds)")
        }
        for round in 0..<1_000 {
            let any = Double(bitPattern: random.next())
            if let duration = DayTimeDuration(timeInterval: any) {
                #expect(abs(duration.timeInterval - any) <= 1e-12, "seed \(seed), round \(round): \(any)")
            }
        }
    }

    @Test func `a Duration is a property value, and one too long is refused`() {
        #expect(Duration.milliseconds(1500).propertyValue == DayTimeDuration("PT1.5S").map { Value.duration($0) })
        #expect(Duration(propertyValue: .duration(.zero)) == .zero)
        #expect(Duration(attoseconds: .max).propertyValue.kindName == "a floating point number")
    }
}
