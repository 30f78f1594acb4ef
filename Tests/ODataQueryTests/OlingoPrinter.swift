import EDM
import ODataQuery

/// Prints trees in the notation of the corpora: each operation in braces, the properties separately.
enum OlingoPrinter {
    static func text(_ expression: Expression) -> String {
        switch expression {
        case .literal: return (try? expression.print(version: .v2)) ?? "?"
        case .path(let path): return text(path)
        case .comparison(let comparison, let left, let right):
            return "{\(text(left)) \(comparison.rawValue) \(text(right))}"
        case .and(let operands): return chain(operands, "and")
        case .or(let operands): return chain(operands, "or")
        case .not(let operand): return "{not \(text(operand))}"
        case .negation(let operand): return "{- \(text(operand))}"
        case .arithmetic(let operation, let left, let right):
            return "{\(text(left)) \(operation.rawValue) \(text(right))}"
        case .call(let function, let arguments):
            return "{\(function.rawValue)(\(arguments.map(text).joined(separator: ",")))}"
        default: return "?"
        }
    }

    private static func chain(_ operands: [Expression], _ word: String) -> String {
        operands.dropFirst().reduce(text(operands[0])) { "{\($0) \(word) \(text($1))}" }
    }

    private static func text(_ path: ExpressionPath) -> String {
        var names: [String] = []
        if case .expression(let root) = path.root { names.append(text(root)) }
        for segment in path.segments { if case .property(let name) = segment { names.append(name) } }
        return names.dropFirst().reduce(names[0]) { "{\($0)/\($1)}" }
    }

    static func text(_ search: SearchExpression) -> String {
        switch search {
        case .word(let word): "'\(word)'"
        case .phrase(let phrase): "'\(phrase)'"
        case .not(let operand): "{NOT \(text(operand))}"
        case .and(let left, let right): "{\(text(left)) AND \(text(right))}"
        case .or(let left, let right): "{\(text(left)) OR \(text(right))}"
        }
    }

    /// Replaces each literal by the spelling that Tidelog prints, so that trees can be compared. Literals such as
    /// `1.0d` and `X'ab'` have several spellings.
    static func canonical(_ serialized: String) -> String {
        var result = ""
        var word = ""
        var isQuoted = false
        func flush() {
            guard !word.isEmpty else { return }
            if let literal = try? Expression.parse(word, version: .v2), case .literal = literal {
                result += (try? literal.print(version: .v2)) ?? word
            } else {
                result += word
            }
            word = ""
        }
        for character in serialized {
            if character == "'" { isQuoted.toggle() }
            if !isQuoted, "{}(), ".contains(character) {
                // A minus sign without operand text is an operator.
                flush()
                result.append(character)
            } else {
                word.append(character)
            }
        }
        flush()
        return result
    }
}
