/// A grammar in the notation of RFC 5234 and RFC 7405, from which random sentences are generated.
struct Grammar {
    /// An element of a rule.
    indirect enum Element {
        /// Text in quotes. Its case is ignored unless it is prefixed with `%s`.
        case text(String, isExact: Bool)
        case rule(String)
        case sequence([Element])
        case choice([Element])
        case repetition(Element, least: Int, most: Int?)
    }

    private var rules: [String: Element] = [:]
    /// The number of nested rules that the shortest sentence of each rule needs.
    private var heights: [String: Int] = [:]

    var names: [String] { rules.keys.sorted() }

    /// Parses the rules of a grammar.
    ///
    /// - Parameter text: The rules, one per line. An indented line continues the previous one. A semicolon outside of
    ///   quotes begins a comment.
    init(_ text: String) throws {
        var lines: [String] = []
        for line in text.split(separator: "\n").map(String.init) {
            if line.first?.isWhitespace == true, let last = lines.popLast() {
                lines.append(last + " " + line)
            } else {
                lines.append(line)
            }
        }
        for line in lines {
            var reader = GrammarReader(line)
            guard let (name, element) = try reader.rule() else { continue }
            rules[name] = element
        }
        for name in rules.keys { try check(rules[name], of: name) }
        measure()
    }

    private func check(_ element: Element?, of name: String) throws {
        switch element {
        case .rule(let other): if rules[other] == nil { throw GrammarError("\(name) uses \(other), which is no rule.") }
        case .sequence(let parts), .choice(let parts): for part in parts { try check(part, of: name) }
        case .repetition(let part, _, _): try check(part, of: name)
        case .text, nil: break
        }
    }

    private mutating func measure() {
        var isChanged = true
        while isChanged {
            isChanged = false
            for (name, element) in rules {
                let height = height(of: element) + 1
                if height < heights[name] ?? .max >> 1 {
                    heights[name] = height
                    isChanged = true
                }
            }
        }
    }

    private func height(of element: Element) -> Int {
        switch element {
        case .text: 0
        case .rule(let name): heights[name] ?? .max >> 2
        case .sequence(let parts): parts.map(height(of:)).max() ?? 0
        case .choice(let parts): parts.map(height(of:)).min() ?? 0
        case .repetition(let part, let least, _): least == 0 ? 0 : height(of: part)
        }
    }

    // MARK: Sentences

    /// Returns a random sentence of the rule. More than `depth` levels of rules deep, or after some hundred characters,
    /// only the shortest alternatives are chosen.
    func sentence(of name: String, depth: Int, using random: inout some RandomNumberGenerator) -> String {
        var text = ""
        if let element = rules[name] { write(element, depth, &text, &random) }
        return text
    }

    private func write(
        _ element: Element, _ given: Int, _ text: inout String, _ random: inout some RandomNumberGenerator
    ) {
        let depth = text.utf8.count > 300 ? 0 : given
        switch element {
        case .text(let word, let isExact):
            let isAnyCase = !isExact && Int.random(in: 0..<8, using: &random) == 0
            for letter in word {
                text += isAnyCase && Bool.random(using: &random) ? letter.uppercased() : String(letter)
            }
        case .rule(let name): if let element = rules[name] { write(element, depth - 1, &text, &random) }
        case .sequence(let parts): for part in parts { write(part, depth, &text, &random) }
        case .choice(let parts):
            let lowest = parts.map(height(of:)).min() ?? 0
            let fitting = parts.filter { height(of: $0) <= max(depth - 1, lowest) }
            if let part = fitting.randomElement(using: &random) { write(part, depth, &text, &random) }
        case .repetition(let part, let least, let most):
            let limit = depth > height(of: part) ? min(most ?? least + 2, least + 2) : least
            for _ in 0..<Int.random(in: least...max(least, limit), using: &random) {
                write(part, depth, &text, &random)
            }
        }
    }
}

struct GrammarError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A parser for a single rule.
private struct GrammarReader {
    private let text: [Character]
    private var index = 0

    init(_ line: String) { text = Array(line) }

    private var next: Character? {
        mutating get {
            while index < text.count, text[index] == " " { index += 1 }
            guard index < text.count, text[index] != ";" else { return nil }
            return text[index]
        }
    }

    private mutating func skip(_ character: Character) -> Bool {
        guard next == character else { return false }
        index += 1
        return true
    }

    /// Returns the name and the element of the rule, or nil for an empty line.
    mutating func rule() throws -> (String, Grammar.Element)? {
        guard next != nil else { return nil }
        guard let name = word(), skip("=") else { throw GrammarError("A rule is expected: \(String(text))") }
        let element = try choice()
        guard next == nil else { throw GrammarError("The rule goes on unexpectedly at \(index): \(String(text))") }
        return (name, element)
    }

    private mutating func word() -> String? {
        var word = ""
        guard next != nil else { return nil }
        while index < text.count, text[index].isLetter || text[index].isNumber || text[index] == "-" {
            word.append(text[index])
            index += 1
        }
        return word.isEmpty ? nil : word
    }

    private mutating func choice() throws -> Grammar.Element {
        var parts = [try sequence()]
        while skip("/") { parts.append(try sequence()) }
        return parts.count == 1 ? parts[0] : .choice(parts)
    }

    private mutating func sequence() throws -> Grammar.Element {
        var parts: [Grammar.Element] = []
        while let character = next, !"/)]".contains(character) { parts.append(try repetition()) }
        return parts.count == 1 ? parts[0] : .sequence(parts)
    }

    private mutating func repetition() throws -> Grammar.Element {
        let least = number()
        guard index < text.count, text[index] == "*" else {
            let part = try element()
            return least.map { .repetition(part, least: $0, most: $0) } ?? part
        }
        index += 1
        let most = number()
        return .repetition(try element(), least: least ?? 0, most: most)
    }

    private mutating func number() -> Int? {
        var digits = ""
        _ = next
        while index < text.count, text[index].isNumber {
            digits.append(text[index])
            index += 1
        }
        return Int(digits)
    }

    private mutating func element() throws -> Grammar.Element {
        if skip("(") { return try group(until: ")") }
        if skip("[") { return .repetition(try group(until: "]"), least: 0, most: 1) }
        if skip("%") {
            guard skip("s") else { throw GrammarError("Only %s is known behind %: \(String(text))") }
            return .text(try quoted(), isExact: true)
        }
        if next == "\"" { return .text(try quoted(), isExact: false) }
        guard let name = word() else { throw GrammarError("An element is expected at \(index): \(String(text))") }
        return .rule(name)
    }

    private mutating func group(until close: Character) throws -> Grammar.Element {
        let element = try choice()
        guard skip(close) else { throw GrammarError("\(close) is expected at \(index): \(String(text))") }
        return element
    }

    private mutating func quoted() throws -> String {
        var content = ""
        guard skip("\"") else { throw GrammarError("A text is expected at \(index): \(String(text))") }
        while index < text.count, text[index] != "\"" {
            content.append(text[index])
            index += 1
        }
        index += 1
        return content
    }
}
