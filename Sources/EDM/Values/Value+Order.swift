/// The result of comparing two values.
public enum ValueOrder: Sendable, Hashable {
    /// The first value is less than the second.
    case ascending
    /// Neither value is less than the other one.
    case same
    /// The first value is greater than the second.
    case descending

    /// The order of the two values when they are exchanged.
    public var reversed: ValueOrder {
        switch self {
        case .ascending: .descending
        case .same: .same
        case .descending: .ascending
        }
    }
}

extension Value {
    /// Compares two values like `lt`, `eq` and `gt` in a query. Returns `nil` if they are not comparable, for example
    /// for null and NaN.
    ///
    /// Numbers of all kinds are compared by their exact values, points in time by the instant, strings by their
    /// Unicode scalars.
    public func compared(to other: Value) -> ValueOrder? {
        switch (self, other) {
        case (.boolean(let a), .boolean(let b)): order(a ? 1 : 0, b ? 1 : 0)
        case (.integer(let a), .integer(let b)): order(a, b)
        case (.double(let a), .double(let b)): a.isNaN || b.isNaN ? nil : order(a, b)
        case (.single(let a), .single(let b)): a.isNaN || b.isNaN ? nil : order(a, b)
        case (.string(let a), .string(let b)), (.enumeration(let a), .enumeration(let b)): order(text: a, b)
        case (.guid(let a), .guid(let b)): order(a, b)
        case (.date(let a), .date(let b)): order(a, b)
        case (.timeOfDay(let a), .timeOfDay(let b)): order(a, b)
        case (.duration(let a), .duration(let b)): order(a, b)
        case (.dateTime(let a), .dateTime(let b)): order(a, b)
        case (.dateTimeOffset(let a), .dateTimeOffset(let b)): order(a.instant, b.instant)
        case (.dateTime(let a), .dateTimeOffset(let b)): order(a.instant, b.instant)
        case (.dateTimeOffset(let a), .dateTime(let b)): order(a.instant, b.instant)
        case (.binary(let a), .binary(let b)): order(bytes: a, b)
        case (.single(let a), .double(let b)): Value.double(Double(a)).compared(to: .double(b))
        case (.double(let a), .single(let b)): Value.double(a).compared(to: .double(Double(b)))
        case (.integer(let a), .double(let b)): order(a, b)
        case (.double(let a), .integer(let b)): order(b, a)?.reversed
        case (.integer(let a), .single(let b)): order(a, Double(b))
        case (.single(let a), .integer(let b)): order(b, Double(a))?.reversed
        default: compareNumbers(other)
        }
    }

    /// Returns a total order over all values, for sorting: null first, then by kind, values of a kind like
    /// ``compared(to:)``.
    ///
    /// NaN is the last of the numbers. Values that are equal by `==` are `same`.
    public func sortOrder(to other: Value) -> ValueOrder {
        if let order = compared(to: other) { return order }
        if let a = decimalValue, let b = other.decimalValue { return order(a, b) }
        if kindRank != other.kindRank { return order(kindRank, other.kindRank) }
        switch (self, other) {
        case (.raw(let a), .raw(let b)): return order(text: a, b)
        case (.collection(let a), .collection(let b)):
            for (x, y) in zip(a, b) {
                let order = x.sortOrder(to: y)
                if order != .same { return order }
            }
            return order(a.count, b.count)
        case (.complex(let a), .complex(let b)): return a.sortOrder(to: b)
        default: return .same
        }
    }

    private func compareNumbers(_ other: Value) -> ValueOrder? {
        guard let a = decimalValue, let b = other.decimalValue else { return nil }
        let hasNaN = a.text == "NaN" || b.text == "NaN"
        return hasNaN ? nil : order(a, b)
    }

    private var kindRank: Int {
        switch self {
        case .null: 0
        case .boolean: 1
        case .integer, .single, .double, .decimal: 2
        case .string: 3
        case .enumeration: 4
        case .guid: 5
        case .date: 6
        case .dateTime, .dateTimeOffset: 7
        case .timeOfDay: 8
        case .duration: 9
        case .binary: 10
        case .raw: 11
        case .complex: 12
        case .collection: 13
        }
    }
}

extension ComplexValue {
    fileprivate func sortOrder(to other: ComplexValue) -> ValueOrder {
        let types = order(text: type ?? "", other.type ?? "")
        if types != .same { return types }
        let names = properties.names.sorted()
        let otherNames = other.properties.names.sorted()
        for (a, b) in zip(names, otherNames) {
            if a != b { return order(text: a, b) }
            let values = (properties[a] ?? .null).sortOrder(to: other.properties[b] ?? .null)
            if values != .same { return values }
        }
        return order(names.count, otherNames.count)
    }
}

private func order<T: Comparable>(_ a: T, _ b: T) -> ValueOrder { a < b ? .ascending : b < a ? .descending : .same }

private func order(bytes a: [UInt8], _ b: [UInt8]) -> ValueOrder {
    a.lexicographicallyPrecedes(b) ? .ascending : b.lexicographicallyPrecedes(a) ? .descending : .same
}

/// Compares exact values: above 2^53 not every integer is a `Double`. Returns `nil` for NaN.
private func order(_ a: Int64, _ b: Double) -> ValueOrder? {
    if b.isNaN { return nil }
    // 2^63 is a `Double`, and the least value above all `Int64` values.
    if b >= 0x1p63 { return .ascending }
    if b < -0x1p63 { return .descending }
    let whole = b.rounded(.down)
    let order = order(a, Int64(whole))
    return order == .same && whole < b ? .ascending : order
}

/// Compares by Unicode scalars, which is the order of the UTF-8 bytes, independent of machine and locale.
private func order(text a: String, _ b: String) -> ValueOrder {
    a.utf8.lexicographicallyPrecedes(b.utf8)
        ? .ascending : b.utf8.lexicographicallyPrecedes(a.utf8) ? .descending : .same
}
