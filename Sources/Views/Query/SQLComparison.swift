import EDM
import ODataQuery

/// Compares values in SQL as OData does: with NaN, null, decimal numbers, dates and enumeration members.
struct SQLComparison {
    let model: EntityDataModel?

    /// Returns the comparison, or nil if SQLite would compare the operands differently than OData does.
    func compare(
        _ comparison: ComparisonOperator, _ a: SQLScalar, _ b: SQLScalar, _ isExact: Bool
    ) -> SQLText? {
        if a.literal?.isNaN == true || b.literal?.isNaN == true { return SQLText(comparison == .ne ? "1" : "0") }
        guard let (left, right, isNullable) = align(a, b, isEquality: comparison == .eq || comparison == .ne) else {
            return nil
        }
        func exact(_ test: SQLText) -> SQLText { isExact ? "COALESCE(" + test + ", 0)" : test }
        func order(_ sign: String, greater: SQLScalar) -> SQLText {
            let test = left + " \(sign) " + right
            return "(" + (mayBeNaN(greater) ? test + " AND " + Self.isNoNaN(greater) : test) + ")"
        }
        /// Two nulls are equal, also for `ge` and `le` (OData 4.01 Part 2, 5.1.1.1.4), but not in V2 (MS-ODATA,
        /// 2.2.3.6.1.1.5).
        func level(_ sign: String, greater: SQLScalar) -> SQLText {
            let test = order(sign, greater: greater)
            if !isNullable || model?.version.isLegacy == true { return exact(test) }
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

    /// Returns a test whether a column contains one of the names of a member.
    func isMember(_ member: SQLScalar, _ names: [String], _ isExact: Bool) -> SQLText? {
        guard !names.isEmpty else { return nil }
        let test = member.text + " IN (" + SQLText.joined(names.map { SQLText("?", [.text($0)]) }, by: ", ") + ")"
        return isExact ? "COALESCE(" + test + ", 0)" : test
    }

    /// Returns all stored forms of a member. Empty for flags, whose names have no order, and for unknown members.
    func names(of value: String, _ name: String) -> [String] {
        guard let model, let type = model.enumerationType(named: model.resolveAlias(name)),
            !type.isFlags, let number = Int64(value) ?? type.member(named: value)?.value
        else { return [] }
        return type.members.filter { $0.value == number }.map(\.name) + [String(number)]
    }

    private func mayBeNaN(_ scalar: SQLScalar) -> Bool { scalar.literal == nil && scalar.kind?.hasNaN == true }

    private static func isNoNaN(_ scalar: SQLScalar) -> SQLText { scalar.text + " COLLATE BINARY IS NOT 'NaN'" }

    /// Returns both operands in forms that SQLite compares as OData does, and whether both may be null.
    private func align(
        _ a: SQLScalar, _ b: SQLScalar, isEquality: Bool
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
    private func isExact(_ scalar: SQLScalar, as kind: StoredKind) -> Bool {
        guard kind == .double || kind == .single, case .integer(let number)? = scalar.literal else { return true }
        return Int64(exactly: Double(number)) == number
    }

    /// Adds the collation. A column has it, but a subquery or a value does not.
    private func decimal(_ scalar: SQLScalar) -> SQLText { scalar.text + " COLLATE DECIMAL" }

    private func keyed(_ scalar: SQLScalar, _ kind: StoredKind) -> SQLText {
        guard let literal = scalar.literal, SortKey.bytes(literal) != nil else {
            return Self.sortKey(scalar.text, kind)
        }
        return SQLText(literal, place: scalar.place, form: .sortKey)
    }

    /// Returns the operand converted to the kind, if SQL can convert it.
    func adapt(_ scalar: SQLScalar, to kind: StoredKind) -> SQLText? {
        if scalar.kind?.family == kind.family { return isExact(scalar, as: kind) ? scalar.text : nil }
        // Only a whole number is converted to a decimal, because a converted column would not use its index.
        guard kind == .decimal, case .integer? = scalar.literal, let literal = scalar.literal else { return nil }
        return SQLText(literal, place: scalar.place, form: .decimal)
    }

    static func sortKey(_ text: SQLText, _ kind: StoredKind) -> SQLText {
        "tl_sortkey(\(kind.rawValue), " + text + ")"
    }
}
