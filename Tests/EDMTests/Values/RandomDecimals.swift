import EDM
import SeededRandom

/// Random decimals: short ones that fit 128 bits, and long ones up to the limit.
struct RandomDecimals {
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// A decimal of at most 15 digits with its digits as an integer and its scale.
    mutating func short() -> (value: DecimalValue, digits: Int128, scale: Int) {
        let count = Int.random(in: 1...15, using: &random)
        let scale = Int.random(in: 0..<count, using: &random)
        var digits: Int128 = 0
        for _ in 0..<count { digits = digits * 10 + Int128(digit()) }
        if Bool.random(using: &random) { digits = -digits }
        return (Self.value(digits, scale), digits, scale)
    }

    /// A decimal of up to `digits` digits, with runs of zeros and nines, which cause carries.
    mutating func long(_ digits: Int) -> DecimalValue {
        let count = Int.random(in: 1...digits, using: &random)
        let scale = Int.random(in: 0..<count, using: &random)
        var text = ""
        while text.utf8.count < count {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: text += String(repeating: "0", count: Int.random(in: 1...20, using: &random))
            case 1: text += String(repeating: "9", count: Int.random(in: 1...20, using: &random))
            default: text += String(digit())
            }
        }
        text = String(text.prefix(count))
        if scale > 0 { text = text.dropLast(scale) + "." + text.suffix(scale) }
        return DecimalValue((Bool.random(using: &random) ? "-" : "") + text) ?? 0
    }

    mutating func rule() -> FloatingPointRoundingRule {
        Self.rules[Int.random(in: 0..<Self.rules.count, using: &random)]
    }

    mutating func pick<T>(_ items: [T]) -> T { items[Int.random(in: 0..<items.count, using: &random)] }

    private mutating func digit() -> Int { Int.random(in: 0...9, using: &random) }

    static let rules: [FloatingPointRoundingRule] = [
        .up, .down, .towardZero, .awayFromZero, .toNearestOrEven, .toNearestOrAwayFromZero,
    ]

    /// The decimal `digits` / 10^`scale`.
    static func value(_ digits: Int128, _ scale: Int) -> DecimalValue { DecimalValue("\(digits)e-\(scale)") ?? 0 }
}
