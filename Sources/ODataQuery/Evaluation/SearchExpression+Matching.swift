extension SearchExpression {
    /// Returns whether the search matches an entity with these texts, its string properties.
    ///
    /// Each service defines the semantics of `$search` itself. Here a word or phrase matches anywhere in a text,
    /// case-insensitively, and `word*` matches at the beginning of a word.
    package func matches(_ texts: [String]) -> Bool { matches(folded: texts.map { Array($0.lowercased().utf8) }) }

    private func matches(folded texts: [[UInt8]]) -> Bool {
        switch self {
        case .word(let word):
            var pattern = Array(word.lowercased().utf8)
            guard pattern.last == UInt8(ascii: "*"), pattern.count > 1 else {
                return texts.contains { Self.find(pattern, in: $0) }
            }
            pattern.removeLast()
            return texts.contains { Self.find(pattern, in: $0, atWordStart: true) }
        case .phrase(let phrase):
            let pattern = Array(phrase.lowercased().utf8)
            return texts.contains { Self.find(pattern, in: $0) }
        case .not(let operand): return !operand.matches(folded: texts)
        case .and(let left, let right): return left.matches(folded: texts) && right.matches(folded: texts)
        case .or(let left, let right): return left.matches(folded: texts) || right.matches(folded: texts)
        }
    }

    private static func find(_ pattern: [UInt8], in text: [UInt8], atWordStart: Bool = false) -> Bool {
        guard pattern.count <= text.count else { return false }
        return (0...(text.count - pattern.count)).contains { start in
            (!atWordStart || start == 0 || !text[start - 1].isIdentifierPart) && text[start...].starts(with: pattern)
        }
    }
}
