import EDM

/// Parses a regular expression into the steps of a ``TextPattern``.
struct TextPatternParser {
    private let text: [Unicode.Scalar]
    private var place = 0
    private var depth = 0

    init(_ pattern: String) { text = Array(pattern.unicodeScalars) }

    mutating func parse() throws(EvaluationError) -> [TextPattern.Step] {
        let steps = try alternatives()
        guard place == text.count else { throw wrong("an unmatched closing parenthesis") }
        return steps + [.match]
    }

    // MARK: Structure. Positions are relative to the part and are shifted when it is inserted into another part.

    private mutating func alternatives() throws(EvaluationError) -> [TextPattern.Step] {
        depth += 1
        defer { depth -= 1 }
        guard depth <= QueryLimits.height else { throw tooLong }
        var steps = try sequence()
        while consume("|") {
            let other = try sequence()
            steps = try checked(
                [.split(1, steps.count + 2)] + moved(steps, by: 1) + [.jump(steps.count + other.count + 2)]
                    + moved(other, by: steps.count + 2))
        }
        return steps
    }

    private mutating func sequence() throws(EvaluationError) -> [TextPattern.Step] {
        var steps: [TextPattern.Step] = []
        while let next = peek, next != "|", next != ")" {
            let part = try repeated(try atom())
            steps = try checked(steps + moved(part, by: steps.count))
        }
        return steps
    }

    private mutating func repeated(_ part: [TextPattern.Step]) throws(EvaluationError) -> [TextPattern.Step] {
        guard let (least, most) = try quantifier() else { return part }
        // Greedy and lazy repetitions are equivalent for deciding whether there is a match.
        _ = consume("?")
        if let next = peek, "*+?{".unicodeScalars.contains(next) { throw wrong("a repetition without an operand") }
        var steps: [TextPattern.Step] = []
        for _ in 0..<least { steps = try checked(steps + moved(part, by: steps.count)) }
        if let most {
            guard most >= least else { throw wrong("a repetition whose maximum is below its minimum") }
            for _ in 0..<(most - least) {
                let optional = [.split(1, part.count + 1)] + moved(part, by: 1)
                steps = try checked(steps + moved(optional, by: steps.count))
            }
        } else {
            let loop = [.split(1, part.count + 2)] + moved(part, by: 1) + [.jump(0)]
            steps = try checked(steps + moved(loop, by: steps.count))
        }
        return steps
    }

    /// Parses the quantifier of the preceding part, or returns nil if there is none. The second number is nil if
    /// unlimited.
    private mutating func quantifier() throws(EvaluationError) -> (least: Int, most: Int?)? {
        if consume("*") { return (0, nil) }
        if consume("+") { return (1, nil) }
        if consume("?") { return (0, 1) }
        guard consume("{") else { return nil }
        guard let least = try number() else { throw wrong("a repetition without a number") }
        var most: Int? = least
        if consume(",") { most = peek == "}" ? nil : try number() }
        guard consume("}") else { throw wrong("an unclosed brace") }
        return (least, most)
    }

    private mutating func number() throws(EvaluationError) -> Int? {
        var value: Int?
        while let next = peek, ScalarSet.digit.contains(next) {
            value = (value ?? 0) * 10 + Int(next.value - 0x30)
            guard value ?? 0 <= TextPattern.limit else { throw tooLong }
            place += 1
        }
        return value
    }

    // MARK: Atoms

    private mutating func atom() throws(EvaluationError) -> [TextPattern.Step] {
        guard let scalar = next() else { return [] }
        switch scalar {
        case ".": return [.scalar(.any)]
        case "^": return [.begin]
        case "$": return [.end]
        case "(": return try group()
        case "[": return [.scalar(try characterClass())]
        case "\\": return try escape()
        case "*", "+", "?", "{": throw wrong("a repetition without an operand")
        default: return [.scalar(ScalarSet(scalar))]
        }
    }

    private mutating func group() throws(EvaluationError) -> [TextPattern.Step] {
        if consume("?") {
            // `(?:…)` and `(?<name>…)` are groups; other forms are lookaround.
            if consume("<"), let next = peek, next != "=", next != "!" {
                while let scalar = self.next(), scalar != ">" {}
            } else if !consume(":") {
                throw EvaluationError(.unsupported, "Only the service can evaluate lookaround in matchesPattern.")
            }
        }
        let steps = try alternatives()
        guard consume(")") else { throw wrong("an unclosed parenthesis") }
        return steps
    }

    private mutating func escape() throws(EvaluationError) -> [TextPattern.Step] {
        if consume("b") { return [.wordBoundary(true)] }
        if consume("B") { return [.wordBoundary(false)] }
        if let next = peek, (0x31...0x39).contains(next.value) || next == "k" {
            throw EvaluationError(.unsupported, "Only the service can evaluate backreferences in matchesPattern.")
        }
        return [.scalar(try escapedSet())]
    }

    /// Parses the character set after a backslash, also within brackets.
    private mutating func escapedSet() throws(EvaluationError) -> ScalarSet {
        guard let scalar = next() else { throw wrong("a backslash at the end") }
        switch scalar {
        case "d": return .digit
        case "D": return .digit.inverted
        case "w": return .word
        case "W": return .word.inverted
        case "s": return .space
        case "S": return .space.inverted
        case "t": return ScalarSet("\t")
        case "n": return ScalarSet("\n")
        case "r": return ScalarSet("\r")
        case "v": return ScalarSet("\u{0B}")
        case "f": return ScalarSet("\u{0C}")
        case "0": return ScalarSet("\0")
        case "x": return try hexadecimal(2)
        case "u": return try hexadecimal(4)
        case "p", "P":
            throw EvaluationError(.unsupported, "Only the service can evaluate Unicode classes in matchesPattern.")
        default:
            guard !ScalarSet.word.contains(scalar) else { throw wrong("the unknown escape \\\(scalar)") }
            return ScalarSet(scalar)
        }
    }

    private mutating func hexadecimal(_ digits: Int) throws(EvaluationError) -> ScalarSet {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let scalar = next(), scalar.isASCII, let digit = Character(scalar).hexDigitValue else {
                throw wrong("an escape without digits")
            }
            value = value * 16 + UInt32(digit)
        }
        guard let scalar = Unicode.Scalar(value) else { throw wrong("a surrogate without its counterpart") }
        return ScalarSet(scalar)
    }

    /// Parses `[…]` after its opening bracket.
    private mutating func characterClass() throws(EvaluationError) -> ScalarSet {
        let isInverted = consume("^")
        var ranges: [ClosedRange<UInt32>] = []
        while let scalar = next() {
            if scalar == "]" { return ScalarSet(ranges, isInverted: isInverted) }
            let low = try scalar == "\\" ? classEscape() : ScalarSet(scalar)
            guard peek == "-", place + 1 < text.count, text[place + 1] != "]", let first = low.single else {
                ranges += low.positive
                continue
            }
            place += 1
            guard let last = try (consume("\\") ? classEscape() : next().map { ScalarSet($0) })?.single, first <= last
            else {
                throw wrong("a range whose end is below its start")
            }
            ranges.append(first...last)
        }
        throw wrong("an unclosed bracket")
    }

    private mutating func classEscape() throws(EvaluationError) -> ScalarSet {
        consume("b") ? ScalarSet("\u{08}") : try escapedSet()
    }

    // MARK: Characters

    private var peek: Unicode.Scalar? { place < text.count ? text[place] : nil }

    private mutating func next() -> Unicode.Scalar? {
        guard place < text.count else { return nil }
        place += 1
        return text[place - 1]
    }

    private mutating func consume(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == scalar else { return false }
        place += 1
        return true
    }

    // MARK: Limits

    private func moved(_ steps: [TextPattern.Step], by distance: Int) -> [TextPattern.Step] {
        steps.map { step in
            switch step {
            case .split(let first, let second): .split(first + distance, second + distance)
            case .jump(let target): .jump(target + distance)
            default: step
            }
        }
    }

    private func checked(_ steps: [TextPattern.Step]) throws(EvaluationError) -> [TextPattern.Step] {
        guard steps.count < TextPattern.limit else { throw tooLong }
        return steps
    }

    private var tooLong: EvaluationError {
        EvaluationError(.outOfRange, "The pattern is too long: the limit is \(TextPattern.limit) steps.")
    }

    private func wrong(_ what: String) -> EvaluationError {
        EvaluationError(.wrongOperand, "The pattern has \(what), before character \(place + 1).")
    }
}

extension ScalarSet {
    /// The character, if the set contains exactly one.
    fileprivate var single: UInt32? {
        !isInverted && ranges.count == 1 && ranges[0].count == 1 ? ranges[0].lowerBound : nil
    }

    /// The ranges of the set without inversion.
    fileprivate var positive: [ClosedRange<UInt32>] {
        guard isInverted else { return ranges }
        var found: [ClosedRange<UInt32>] = []
        var start: UInt32 = 0
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > start { found.append(start...(range.lowerBound - 1)) }
            start = range.upperBound + 1
        }
        found.append(start...0x10FFFF)
        return found
    }
}
