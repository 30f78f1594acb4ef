import EDM
import ODataWire

extension SQLCompiler {
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
            return isMember(member, names(of: value, type), isExact)
        }
        guard let a = try scalar(left), let b = try scalar(right) else { return nil }
        if let type = a.enumeration ?? b.enumeration {
            if a.literal == .null || b.literal == .null { return compare(comparison, a, b, isExact) }
            // V4.01 writes members as strings. Other comparisons use the members' numbers, which only the evaluator
            // knows.
            guard comparison == .eq, a.enumeration != nil, case .string(let value)? = b.literal else { return nil }
            noteOwn(b)
            return isMember(a, names(of: value, type), isExact)
        }
        return compare(comparison, a, b, isExact)
    }

    /// Records that the statement depends on the value of a literal, and cannot be reused for another value.
    private mutating func noteOwn(_ literal: Scalar) { if literal.place != nil { notePassing() } }

    private func isMember(_ member: Scalar, _ names: [String], _ isExact: Bool) -> SQLText? {
        guard !names.isEmpty else { return nil }
        let test = member.text + " IN (" + SQLText.joined(names.map { SQLText("?", [.text($0)]) }, by: ", ") + ")"
        return isExact ? "COALESCE(" + test + ", 0)" : test
    }

    /// Returns all stored forms of a member. Empty for flags, whose names have no order, and for unknown members.
    private func names(of value: String, _ name: String) -> [String] {
        guard let model = functions.model, let type = model.enumerationType(named: model.resolveAlias(name)),
            !type.isFlags, let number = Int64(value) ?? type.member(named: value)?.value
        else { return [] }
        return type.members.filter { $0.value == number }.map(\.name) + [String(number)]
    }

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
        of item: Expression, comparedWith value: Scalar
    ) throws(EvaluationError) -> [SQLText]? {
        if case .enumeration(let type, let member) = item {
            let names = value.literal == nil ? names(of: member, type) : []
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
            noteOwn(literal)
            let names = names(of: member, type)
            return names.isEmpty ? nil : names.map { SQLText("?", [.text($0)]) }
        }
        return adapt(literal, to: kind).map { [$0] }
    }

    private func compare(
        _ comparison: ComparisonOperator, _ a: Scalar, _ b: Scalar, _ isExact: Bool
    ) -> SQLText? {
        if a.literal?.isNaN == true || b.literal?.isNaN == true { return SQLText(comparison == .ne ? "1" : "0") }
        guard let (left, right, isNullable) = align(a, b, isEquality: comparison == .eq || comparison == .ne) else {
            return nil
        }
        func exact(_ test: SQLText) -> SQLText { isExact ? "COALESCE(" + test + ", 0)" : test }
        func order(_ sign: String, greater: Scalar) -> SQLText {
            let test = left + " \(sign) " + right
            return "(" + (mayBeNaN(greater) ? test + " AND " + Self.isNoNaN(greater) : test) + ")"
        }
        /// Two nulls are equal, also for `ge` and `le` (OData 4.01 Part 2, 5.1.1.1.4), but not in V2 (MS-ODATA,
        /// 2.2.3.6.1.1.5).
        func level(_ sign: String, greater: Scalar) -> SQLText {
            let test = order(sign, greater: greater)
            if !isNullable || functions.model?.version.isLegacy == true { return exact(test) }
            return exact("(" + test + " OR (" + left + " IS NULL AND " + right + " IS NULL))")
        }
        switch comparison {
        case .eq where mayBeNaN(a) && mayBeNaN(b): return "(" + left + " IS " + right + " AND " + Self.isNoNaN(a) + ")"
        // `IS` also holds for two nulls. If one side is a value, `=` is equivalent and easier to read.
        case .eq where isNullable: return "(" + left + " IS " + right + ")"
        case .eq where a.kind == .date && b.kind == .date:
            // The comparison of the texts is fast; an index over dates contains their sort keys. The plus signs prevent
            // SQLite from substituting the value into the sort key, which would hide the index.
            return exact("(+" + left + " = +" + right + " AND " + keyed(a, .date) + " = " + keyed(b, .date) + ")")
        case .eq: return exact("(" + left + " = " + right + ")")
        case .ne where mayBeNaN(a) && mayBeNaN(b):
            return "(" + left + " IS NOT " + right + " OR NOT " + Self.isNoNaN(a) + ")"
        case .ne: return "(" + left + " IS NOT " + right + ")"
        case .gt: return exact(order(">", greater: a))
        case .ge: return level(">=", greater: a)
        case .lt: return exact(order("<", greater: b))
        case .le: return level("<=", greater: b)
        case .has, .in: return nil
        }
    }

    private func mayBeNaN(_ scalar: Scalar) -> Bool { scalar.literal == nil && scalar.kind?.hasNaN == true }

    private static func isNoNaN(_ scalar: Scalar) -> SQLText { scalar.text + " COLLATE BINARY IS NOT 'NaN'" }

    /// Returns both operands in forms that SQLite compares as OData does, and whether both may be null.
    private func align(
        _ a: Scalar, _ b: Scalar, isEquality: Bool
    ) -> (left: SQLText, right: SQLText, isNullable: Bool)? {
        let isNullable = (a.literal == nil || a.literal == .null) && (b.literal == nil || b.literal == .null)
        guard let kindA = a.kind, let kindB = b.kind else { return (a.text, b.text, isNullable) }
        if kindA.needsSortKey, kindA.family == kindB.family {
            // Equal dates have equal texts.
            if isEquality, kindA == .date, kindB == .date { return (a.text, b.text, isNullable) }
            return (keyed(a, kindA), keyed(b, kindB), isNullable)
        }
        if kindA == .decimal, let right = adapt(b, to: .decimal) { return (decimal(a), right, isNullable) }
        if kindB == .decimal, let left = adapt(a, to: .decimal) {
            return (left + " COLLATE DECIMAL", b.text, isNullable)
        }
        guard kindA.family == kindB.family, !kindA.needsSortKey, isExact(a, as: kindB), isExact(b, as: kindA) else {
            return nil
        }
        return (a.text, b.text, isNullable)
    }

    /// Returns whether SQLite preserves the value when it compares it with a column of the kind: it converts whole
    /// numbers to floating-point numbers, inexactly beyond 2^53.
    private func isExact(_ scalar: Scalar, as kind: StoredKind) -> Bool {
        guard kind == .double || kind == .single, case .integer(let number)? = scalar.literal else { return true }
        return Int64(exactly: Double(number)) == number
    }

    /// Adds the collation. A column has it, but a subquery or a value does not.
    private func decimal(_ scalar: Scalar) -> SQLText { scalar.text + " COLLATE DECIMAL" }

    private func keyed(_ scalar: Scalar, _ kind: StoredKind) -> SQLText {
        guard let literal = scalar.literal, SortKey.bytes(literal) != nil else {
            return Self.sortKey(scalar.text, kind)
        }
        return SQLText(literal, place: scalar.place, form: .sortKey)
    }

    /// Returns the operand converted to the kind, if SQL can convert it.
    private func adapt(_ scalar: Scalar, to kind: StoredKind) -> SQLText? {
        if scalar.kind?.family == kind.family { return isExact(scalar, as: kind) ? scalar.text : nil }
        // Only a whole number is converted to a decimal, because a converted column would not use its index.
        guard kind == .decimal, case .integer? = scalar.literal, let literal = scalar.literal else { return nil }
        return SQLText(literal, place: scalar.place, form: .decimal)
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
