import EDM
import Testing

@Suite struct `Decimal arithmetic` {
    private func decimal(_ text: String) throws -> DecimalValue { try #require(DecimalValue(text)) }

    @Test(arguments: [
        ("1.50", "1.50", "3.00"), ("0.1", "0.2", "0.3"), ("-1", "1", "0"), ("1.0", "-1.00", "0.00"),
        ("999999999", "1", "1000000000"), ("999999999.999999999", "0.000000001", "1000000000.000000000"),
        ("-0.5", "-0.5", "-1.0"), ("1", "-0.000000001", "0.999999999"),
    ])
    func `a sum has all digits of both numbers`(a: String, b: String, sum: String) throws {
        #expect(try (decimal(a) + decimal(b)).text == sum)
        #expect(try (decimal(b) + decimal(a)).text == sum)
    }

    @Test(arguments: [
        ("1.50", "2.0", "3.000"), ("-3", "0.5", "-1.5"), ("-0.5", "0", "0.0"),
        ("999999999", "999999999", "999999998000000001"),
        ("0.000000001", "1000000000", "1.000000000"), ("-2", "-2", "4"),
    ])
    func `a product has the digits after the point of both numbers`(a: String, b: String, product: String) throws {
        #expect(try (decimal(a) * decimal(b)).text == product)
        #expect(try (decimal(b) * decimal(a)).text == product)
    }

    @Test(arguments: [
        ("10", "3", 2, "3.33"), ("2", "3", 2, "0.67"), ("-2", "3", 0, "-1"), ("1", "8", 2, "0.13"),
        ("1", "-8", 2, "-0.13"),
        ("-1", "3", 0, "0"), ("1.00", "4", 4, "0.2500"), ("0.001", "1000", 6, "0.000001"), ("7", "0.5", 0, "14"),
        ("0", "5", 2, "0.00"), ("1", "3", -7, "0"),
    ])
    func `a quotient has the requested number of digits`(a: String, b: String, scale: Int, quotient: String) throws {
        #expect(try decimal(a).divided(by: decimal(b), scale: scale).text == quotient)
    }

    @Test func `prices are summed without the noise of binary numbers`() throws {
        let prices = try ["0.10", "0.20", "19.99", "-0.29"].map(decimal)
        #expect(prices.reduce(0, +).text == "20.00")
        var total: DecimalValue = 0
        for price in prices { total += price }
        total -= 5
        total *= 2
        #expect(total.text == "30.00")
    }

    @Test(arguments: [
        ("7", "2", "3", "1"), ("-7", "2", "-3", "-1"), ("7", "-2", "-3", "1"), ("5.5", "1.5", "3", "1.0"),
        ("0.3", "0.1", "3", "0.0"), ("1", "7.25", "0", "1.00"),
    ])
    func `a remainder has the sign of the dividend`(a: String, b: String, quotient: String, remainder: String) throws {
        let result = try decimal(a).quotientAndRemainder(dividingBy: decimal(b))
        #expect(result.quotient.text == quotient)
        #expect(result.remainder.text == remainder)
    }

    // MARK: Special values

    static let special: [(DecimalValue, DecimalValue)] = [
        (DecimalValue.infinity + 1, .infinity), (1 - DecimalValue.infinity, .negativeInfinity),
        (DecimalValue.infinity - .infinity, .notANumber), (DecimalValue.infinity + .infinity, .infinity),
        (DecimalValue.infinity * -2, .negativeInfinity), (DecimalValue.infinity * 0, .notANumber),
        (DecimalValue.notANumber * 0, .notANumber), (DecimalValue.notANumber + 1, .notANumber),
        (DecimalValue(1).divided(by: 0, scale: 2), .infinity),
        (DecimalValue(-1).divided(by: 0, scale: 2), .negativeInfinity),
        (DecimalValue(0).divided(by: 0, scale: 2), .notANumber), (DecimalValue(5).divided(by: .infinity, scale: 2), 0),
        (DecimalValue.infinity.divided(by: -2, scale: 2), .negativeInfinity),
        (DecimalValue.infinity.divided(by: .infinity, scale: 2), .notANumber),
        (DecimalValue(5).quotientAndRemainder(dividingBy: 0).remainder, .notANumber),
        (DecimalValue(5).quotientAndRemainder(dividingBy: .infinity).remainder, 5),
        (-DecimalValue.infinity, .negativeInfinity), (-DecimalValue.notANumber, .notANumber),
        (DecimalValue.negativeInfinity.magnitude, .infinity), (DecimalValue.infinity.rounded(toScale: 2), .infinity),
        (DecimalValue.notANumber.normalized, .notANumber),
    ]

    @Test(arguments: special.indices)
    func `INF and NaN follow IEEE 754`(_ index: Int) {
        #expect(Self.special[index].0 == Self.special[index].1)
    }

    @Test func `INF and NaN are no integers`() {
        for number in [DecimalValue.infinity, .negativeInfinity, .notANumber] { #expect(number.int64Value == nil) }
        #expect(DecimalValue(-0.0).text == "0")
    }

    @Test(arguments: ["0", "0.00", "-0", "-0.000"])
    func `zero has no sign`(_ text: String) throws {
        let zero = try decimal(text)
        #expect(!zero.isNegative)
        #expect(zero.isZero)
        #expect(!(-zero).text.contains("-"))
        #expect(!(zero * -1).text.contains("-"))
        #expect(try !decimal("-0.4").rounded().text.contains("-"))
        #expect(try !decimal("-0.0001").divided(by: 3, scale: 2).text.contains("-"))
    }

    // MARK: Limits

    @Test func `a sum of 4,097 digits before the point is infinite`() throws {
        let nines = try decimal(String(repeating: "9", count: DecimalValue.maximumDigits))
        #expect(nines + 1 == .infinity)
        #expect(-nines - 1 == .negativeInfinity)
        #expect(nines * nines == .infinity)
        #expect((nines - 1).text.utf8.last == 0x38)
        #expect(nines.rounded(toScale: -1, .up) == .infinity)
        #expect(try (nines + decimal("0.5")) == .infinity)
        #expect(try (nines + decimal("0.4")) == nines)
    }

    @Test func `digits after the point beyond 4,096 are rounded half to even`() throws {
        let tiny = try decimal("0." + String(repeating: "0", count: 4094) + "1")
        #expect((tiny * tiny).isZero)
        #expect((tiny * tiny).text.utf8.count <= DecimalValue.maximumDigits + 1)
        #expect(tiny * DecimalValue(10) * DecimalValue(7) > tiny)
        // The sum of 9.99… and a few units of the last place has one digit more before the point.
        let nines = try decimal("9." + String(repeating: "9", count: 4095))
        #expect(try (nines + tiny * 5).text == decimal("10." + String(repeating: "0", count: 4094)).text)
        #expect(try (nines * decimal("1.0")).text == nines.text)
    }

    @Test func `the longest numbers are added, multiplied and divided`() throws {
        var random = RandomDecimals(seed: 1)
        for _ in 0..<3 {
            let (a, b) = (random.long(4096), random.long(4096))
            #expect((a + b) - b == a || (a + b).text.utf8.count > 4000)
            _ = a * b
            let quotient = a.divided(by: b, scale: 10)
            #expect(b.isZero || quotient.isFinite || quotient.isInfinite)
            _ = a.quotientAndRemainder(dividingBy: b)
        }
    }

    @Test func `an extreme scale traps nothing`() throws {
        for text in ["0", "0.5", "-123.456", "9", "INF", "NaN", String(repeating: "9", count: 4096)] {
            let number = try decimal(text)
            for scale in [Int.min, -5000, -4097, -1, 0, 4095, 4096, 4097, Int.max] {
                for rule in RandomDecimals.rules {
                    _ = number.rounded(toScale: scale, rule)
                    _ = number.divided(by: 7, scale: scale, rounding: rule)
                    #expect(number.formatted(scale: scale, rounding: rule).isEmpty == false)
                }
            }
        }
        #expect(try decimal("0.5").rounded(toScale: Int.max) == decimal("0.5"))
        #expect(try decimal("5").rounded(toScale: Int.min, .up) == .infinity)
        #expect(try decimal("5").rounded(toScale: Int.min).text == "0")
    }

    // MARK: Random numbers

    @Test(arguments: [11, 12, 13] as [UInt64])
    func `random sums, differences and products are those of 128-bit integers`(seed: UInt64) {
        var random = RandomDecimals(seed: seed)
        for round in 0..<2_000 {
            let (a, b) = (random.short(), random.short())
            let scale = max(a.scale, b.scale)
            let (x, y) = (a.digits * power(scale - a.scale), b.digits * power(scale - b.scale))
            let place = "seed \(seed), round \(round): \(a.value) and \(b.value)"
            #expect(a.value + b.value == RandomDecimals.value(x + y, scale), "\(place)")
            #expect(a.value - b.value == RandomDecimals.value(x - y, scale), "\(place)")
            #expect(a.value * b.value == RandomDecimals.value(a.digits * b.digits, a.scale + b.scale), "\(place)")
            #expect((a.value < b.value) == (x < y), "\(place)")
        }
    }

    @Test(arguments: [21, 22, 23] as [UInt64])
    func `random quotients and roundings are those of 128-bit integers`(seed: UInt64) {
        var random = RandomDecimals(seed: seed)
        for round in 0..<2_000 {
            let (a, b) = (random.short(), random.short())
            let (scale, rule) = (Int.random(in: -3...8, using: &random.random), random.rule())
            let place = "seed \(seed), round \(round): \(a.value) and \(b.value) to \(scale), \(rule)"
            let unit = power(max(0, a.scale - scale))
            let rounded = Self.divide(a.digits, unit, rule) * power(max(0, scale - a.scale))
            #expect(
                a.value.rounded(toScale: scale, rule) == DecimalValue("\(rounded)e\(-scale)"), "\(place)")
            guard b.digits != 0, scale >= 0 else { continue }
            let places = scale + b.scale - a.scale
            let quotient = Self.divide(
                a.digits * power(max(0, places)), b.digits * power(max(0, -places)), rule)
            #expect(
                a.value.divided(by: b.value, scale: scale, rounding: rule) == RandomDecimals.value(quotient, scale),
                "\(place)")
        }
    }

    @Test(arguments: [31, 32, 33] as [UInt64])
    func `random long numbers obey the laws of arithmetic`(seed: UInt64) {
        var random = RandomDecimals(seed: seed)
        for round in 0..<150 {
            let (a, b, c) = (random.long(400), random.long(400), random.long(400))
            let place = "seed \(seed), round \(round): \(a), \(b), \(c)"
            #expect((a + b) - b == a, "\(place)")
            #expect(a * (b + c) == a * b + a * c, "\(place)")
            #expect((a * b) * c == a * (b * c), "\(place)")
            guard !b.isZero else { continue }
            let (quotient, remainder) = a.quotientAndRemainder(dividingBy: b)
            #expect(quotient * b + remainder == a, "\(place)")
            #expect(remainder.magnitude < b.magnitude, "\(place)")
            #expect((a * b).divided(by: b, scale: a.scale) == a, "\(place)")
        }
    }

    private func power(_ exponent: Int) -> Int128 {
        (0..<max(0, exponent)).reduce(Int128(1)) { power, _ in power * 10 }
    }

    /// The quotient of two integers, rounded by the definition of each rule.
    private static func divide(_ a: Int128, _ b: Int128, _ rule: FloatingPointRoundingRule) -> Int128 {
        let (quotient, rest) = a.magnitude.quotientAndRemainder(dividingBy: b.magnitude)
        let isNegative = (a < 0) != (b < 0)
        let isAway =
            switch rule {
            case .up: rest != 0 && !isNegative
            case .down: rest != 0 && isNegative
            case .towardZero: false
            case .awayFromZero: rest != 0
            case .toNearestOrEven: rest * 2 > b.magnitude || (rest * 2 == b.magnitude && quotient % 2 == 1)
            case .toNearestOrAwayFromZero: rest != 0 && rest * 2 >= b.magnitude
            @unknown default: false
            }
        let magnitude = Int128(quotient + (isAway ? 1 : 0))
        return isNegative ? -magnitude : magnitude
    }
}
