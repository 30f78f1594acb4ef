import EDM
import ODataWire

extension SQLCompiler {
    /// The comparison in plain SQL; nil where the operands are no scalars or of kinds that only the evaluator compares.
    mutating func plainComparison(
        _ comparison: ComparisonOperator, _ left: Expression, _ right: Expression, _ isExact: Bool
    ) throws(EvaluationError) -> SQLText? {
        if let test = try navigationTest(comparison, left, right) { return test }
        if comparison == .in, case .list(let items) = right { return try membership(left, items, isExact) }
        if let list = names(of: right) {
            // Others by their numbers, which only the evaluator knows.
            guard comparison == .eq, !list.isEmpty, let value = try scalar(left), value.literal == nil else {
                return nil
            }
            let test = value.text + " IN (" + SQLText.joined(list.map { SQLText("?", [.text($0)]) }, by: ", ") + ")"
            return isExact ? "COALESCE(" + test + ", 0)" : test
        }
        if case .enumeration = left { return nil }
        guard comparison != .has, comparison != .in, let a = try scalar(left), let b = try scalar(right) else {
            return nil
        }
        return compare(comparison, a, b, isExact)
    }

    /// All ways in which a member may be stored; empty for flags, whose names have no order, and for what the type does not
    /// have. Nil for another operand.
    private func names(of operand: Expression) -> [String]? {
        guard case .enumeration(let name, let value) = operand else { return nil }
        guard let model = functions.model, let type = model.enumerationType(named: model.resolveAlias(name)),
            !type.isFlags, let number = Int64(value) ?? type.member(named: value)?.value
        else { return [] }
        return type.members.filter { $0.value == number }.map(\.name) + [String(number)]
    }

    /// `Customer eq null`: whether a single-valued navigation property leads to anything.
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

    private mutating func membership(
        _ left: Expression, _ items: [Expression], _ isExact: Bool
    ) throws(EvaluationError) -> SQLText? {
        guard let value = try scalar(left), items.count < 10_000 else { return nil }
        var plain: [SQLText] = []
        var hasNull = false
        for item in items {
            guard case .literal(let literal, _) = item else { return nil }
            if literal == .null {
                hasNull = true
            } else if let kind = value.kind, !kind.needsSortKey, let other = adapt(Scalar(literal), to: kind) {
                plain.append(other)
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

    private func compare(
        _ comparison: ComparisonOperator, _ a: Scalar, _ b: Scalar, _ isExact: Bool
    ) -> SQLText? {
        guard let (left, right, isNullable) = align(a, b, isEquality: comparison == .eq || comparison == .ne) else {
            return nil
        }
        func plain(_ sign: String) -> SQLText {
            var test = "(" + left + " \(sign) " + right + ")"
            if comparison == .eq, a.kind == .date, b.kind == .date {
                // The texts are compared quickly; an index over dates is one over their sort keys. The signs keep SQLite from
                // putting the value into the sort key's place, where it would not see the index any more.
                test = "(+" + left + " = +" + right + " AND " + keyed(a, .date) + " = " + keyed(b, .date) + ")"
            }
            return isExact ? "COALESCE(" + test + ", 0)" : test
        }
        switch comparison {
        // `IS` also says that null is null; with a value on one side `=` does as well and reads better.
        case .eq: return isNullable ? "(" + left + " IS " + right + ")" : plain("=")
        case .ne: return "(" + left + " IS NOT " + right + ")"
        case .gt: return plain(">")
        case .ge: return plain(">=")
        case .lt: return plain("<")
        case .le: return plain("<=")
        case .has, .in: return nil
        }
    }

    /// Both operands in forms that SQLite compares as OData does, and whether both may be null.
    private func align(
        _ a: Scalar, _ b: Scalar, isEquality: Bool
    ) -> (left: SQLText, right: SQLText, isNullable: Bool)? {
        let isNullable = (a.literal == nil || a.literal == .null) && (b.literal == nil || b.literal == .null)
        guard let kindA = a.kind, let kindB = b.kind else { return (a.text, b.text, isNullable) }
        if kindA.needsSortKey, kindA.family == kindB.family {
            // The text of a date is the same where the date is.
            if isEquality, kindA == .date, kindB == .date { return (a.text, b.text, isNullable) }
            return (keyed(a, kindA), keyed(b, kindB), isNullable)
        }
        if kindA == .decimal, let right = adapt(b, to: .decimal) { return (decimal(a), right, isNullable) }
        if kindB == .decimal, let left = adapt(a, to: .decimal) {
            return (left + " COLLATE DECIMAL", b.text, isNullable)
        }
        guard kindA.family == kindB.family, !kindA.needsSortKey else { return nil }
        return (a.text, b.text, isNullable)
    }

    /// The collation is the column's own; a subquery or a value has none.
    private func decimal(_ scalar: Scalar) -> SQLText { scalar.text + " COLLATE DECIMAL" }

    private func keyed(_ scalar: Scalar, _ kind: StoredKind) -> SQLText {
        guard let literal = scalar.literal, let bytes = SortKey.bytes(literal) else {
            return Self.sortKey(scalar.text, kind)
        }
        return SQLText("?", [.blob(bytes)])
    }

    /// The operand as one of that kind, where SQL can make it one.
    private func adapt(_ scalar: Scalar, to kind: StoredKind) -> SQLText? {
        if scalar.kind?.family == kind.family { return scalar.text }
        // A whole number as a decimal: only values, for a column would lose its index.
        guard kind == .decimal, case .integer(let number)? = scalar.literal else { return nil }
        return SQLText("?", [.text(String(number))])
    }
}
