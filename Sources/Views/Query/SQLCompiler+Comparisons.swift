import EDM
import ODataQuery

extension SQLCompiler {
    private var comparisons: SQLComparison { SQLComparison(model: functions.model) }

    /// Returns the comparison in plain SQL, or nil if the operands are no scalars or of kinds that only the evaluator
    /// compares.
    mutating func plainComparison(
        _ comparison: ComparisonOperator, _ left: Expression, _ right: Expression, _ isExact: Bool
    ) throws(EvaluationError) -> SQLText? {
        if let test = try navigationTest(comparison, left, right) { return test }
        if comparison == .in, case .list(let items) = right { return try membership(left, items, isExact) }
        guard comparison != .has, comparison != .in else { return nil }
        if case .enumeration = left { return nil }
        if case .enumeration(let type, let value) = right {
            guard comparison == .eq, let member = try scalar(left), member.literal == nil else { return nil }
            return comparisons.isMember(member, comparisons.names(of: value, type), isExact)
        }
        guard let a = try scalar(left), let b = try scalar(right) else { return nil }
        if let type = a.enumeration ?? b.enumeration {
            if a.literal == .null || b.literal == .null { return comparisons.compare(comparison, a, b, isExact) }
            // V4.01 writes members as strings. Other comparisons use the members' numbers, which only the evaluator
            // knows.
            guard comparison == .eq, a.enumeration != nil, case .string(let value)? = b.literal else { return nil }
            recordOwn(b)
            return comparisons.isMember(a, comparisons.names(of: value, type), isExact)
        }
        return comparisons.compare(comparison, a, b, isExact)
    }

    /// Records that the statement depends on the value of a literal, and cannot be reused for another value.
    private mutating func recordOwn(_ literal: SQLScalar) { if literal.place != nil { recordPassing() } }

    /// Returns a test whether a to-one navigation property has a target, for conditions such as `Customer eq null`.
    mutating func navigationTest(
        _ comparison: ComparisonOperator, _ left: Expression, _ right: Expression
    ) throws(EvaluationError) -> SQLText? {
        guard comparison == .eq || comparison == .ne else { return nil }
        let path: ExpressionPath
        switch (left, right) {
        case (.path(let inner), .literal(.null, _)), (.literal(.null, _), .path(let inner)): path = inner
        default: return nil
        }
        guard try isNavigation(path) else { return nil }
        let exists = try exists(path)
        return comparison == .ne ? exists : "(NOT " + exists + ")"
    }

    /// Returns a test whether the operand is among the items, or nil if SQL cannot compare one of the items with the
    /// operand.
    mutating func membership(
        _ left: Expression, _ items: [Expression], _ isExact: Bool
    ) throws(EvaluationError) -> SQLText? {
        guard let value = try scalar(left), items.count < 10_000 else { return nil }
        var plain: [SQLText] = []
        var hasNull = false
        for item in items {
            if case .literal(.null, _) = item {
                hasNull = true
            } else if let texts = try texts(of: item, comparedWith: value) {
                plain += texts
            } else {
                return nil
            }
        }
        var alternatives: [SQLText] = []
        if !plain.isEmpty {
            var operand = value.text
            if value.kind == .decimal { operand = operand + " COLLATE DECIMAL" }
            alternatives.append(operand + " IN (" + SQLText.joined(plain, by: ", ") + ")")
        }
        if hasNull { alternatives.append(value.text + " IS NULL") }
        guard !alternatives.isEmpty else { return SQLText("0") }
        let test = "(" + SQLText.joined(alternatives, by: " OR ") + ")"
        return isExact ? "COALESCE(" + test + ", 0)" : test
    }

    /// Returns all stored forms of an item of a list.
    private mutating func texts(
        of item: Expression, comparedWith value: SQLScalar
    ) throws(EvaluationError) -> [SQLText]? {
        if case .enumeration(let type, let member) = item {
            let names = value.literal == nil ? comparisons.names(of: member, type) : []
            return names.isEmpty ? nil : names.map { SQLText("?", [.text($0)]) }
        }
        switch item {
        case .literal, .path: break
        default: return nil
        }
        guard let literal = try scalar(item), let found = literal.literal, let kind = value.kind, !kind.needsSortKey
        else {
            return nil
        }
        if found.isNaN { return [] }
        if let type = value.enumeration {
            guard case .string(let member) = found else { return nil }
            recordOwn(literal)
            let names = comparisons.names(of: member, type)
            return names.isEmpty ? nil : names.map { SQLText("?", [.text($0)]) }
        }
        return comparisons.adapt(literal, to: kind).map { [$0] }
    }

}

extension Value {
    /// Whether the value is NaN, which is not equal to any value, including itself (OData 4.01 Part 2, 5.1.1.1.1).
    var isNaN: Bool {
        switch self {
        case .double(let number): number.isNaN
        case .single(let number): number.isNaN
        case .decimal(let number): number == .notANumber
        default: false
        }
    }
}
