import EDM
import ODataQuery

/// A condition without the values that it compares with properties. Conditions that differ only in these values share
/// one prepared statement.
struct ConditionTemplate {
    /// The condition with aliases instead of its parameters.
    private(set) var condition: Expression?
    private(set) var parameters: [Value] = []

    init(_ condition: Expression?) { self.condition = condition.map { taken($0) } }

    /// Returns the index of the parameter of an alias, or nil for an alias of the query itself.
    static func place(_ alias: String) -> Int? {
        var bytes = alias.utf8[...]
        guard bytes.popFirst() == UInt8(ascii: "~"), bytes.popLast() != nil else { return nil }
        return Int(Substring(bytes))
    }

    private mutating func taken(_ condition: Expression) -> Expression {
        switch condition {
        case .and(let operands): return .and(taken(operands))
        case .or(let operands): return .or(taken(operands))
        case .not(let operand): return .not(taken(operand))
        case .comparison(let comparison, let left, .list(let items)):
            guard case .path = left else { return condition }
            return .comparison(comparison, left, .list(items.map { alias($0) }))
        case .comparison(let comparison, let left, let right):
            switch (left, right) {
            case (.path, .literal): return .comparison(comparison, left, alias(right))
            case (.literal, .path): return .comparison(comparison, alias(left), right)
            default: return condition
            }
        default: return condition
        }
    }

    private mutating func taken(_ conditions: [Expression]) -> [Expression] {
        var result: [Expression] = []
        result.reserveCapacity(conditions.count)
        for condition in conditions { result.append(taken(condition)) }
        return result
    }

    /// Returns an alias for a literal. Its name contains the kind, because comparisons differ by kind.
    private mutating func alias(_ operand: Expression) -> Expression {
        guard case .literal(let value, _) = operand, let kind = StoredKind(value) else { return operand }
        // For greater numbers, SQLite and the evaluator divide the work differently.
        if case .integer(let number) = value, number.magnitude > 1 << 53 { return operand }
        if value.isNaN { return operand }
        parameters.append(value)
        let letter = Character(Unicode.Scalar(UInt8(ascii: "a") + UInt8(kind.rawValue)))
        return .path(ExpressionPath(root: .alias("~\(parameters.count - 1)\(letter)"), segments: []))
    }
}
