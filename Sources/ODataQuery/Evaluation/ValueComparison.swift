package import EDM

/// The comparison of values by `eq`, `lt` and the other comparison operators.
package enum ValueComparison {
    /// Returns the result of a comparison.
    ///
    /// Null is equal to null only. Values without a common order are neither less nor greater, and not equal unless
    /// they are the same value.
    ///
    /// - Parameter nullsAreLevel: Whether two nulls satisfy `ge` and `le` as well as `eq`. In V2 and V3 they do not.
    package static func apply(
        _ comparison: ComparisonOperator, _ a: Value, _ b: Value, nullsAreLevel: Bool = true
    ) -> Bool {
        switch comparison {
        case .eq: isEqual(a, b)
        case .ne: !isEqual(a, b)
        case .gt: order(a, b) == .descending
        case .ge: order(a, b).map { $0 != .ascending } ?? (nullsAreLevel && a == .null && b == .null)
        case .lt: order(a, b) == .ascending
        case .le: order(a, b).map { $0 != .descending } ?? (nullsAreLevel && a == .null && b == .null)
        case .in: if case .collection(let items) = b { items.contains { isEqual(a, $0) } } else { false }
        case .has: names(a).isSuperset(of: names(b))
        }
    }

    static func isEqual(_ a: Value, _ b: Value) -> Bool {
        switch (a, b) {
        case (.null, .null): return true
        case (.null, _), (_, .null): return false
        case (.collection(let x), .collection(let y)):
            return x.count == y.count && zip(x, y).allSatisfy { isEqual($0, $1) }
        case (.complex(let x), .complex(let y)):
            return x.properties.count == y.properties.count
                && x.properties.allSatisfy { item in y.properties[item.name].map { isEqual(item.value, $0) } ?? false }
        case (.raw(let x), .raw(let y)): return x.utf8.elementsEqual(y.utf8)
        default: return order(a, b) == .same
        }
    }

    /// Returns the order, or nil for null, NaN and values of different kinds.
    static func order(_ a: Value, _ b: Value) -> ValueOrder? {
        if let order = a.compared(to: b) { return order }
        switch (a, b) {
        // 4.01 writes enumeration members as strings, and V2 a date as a point in time and a time of day as a duration.
        case (.enumeration(let x), .string), (.string(let x), .enumeration):
            return Value.string(x).compared(to: text(b))
        // 4.01 permits durations without prefix.
        case (.duration, .string(let text)): return DayTimeDuration(text).flatMap { a.compared(to: .duration($0)) }
        case (.string, .duration): return order(b, a)?.reversed
        case (.date(let date), .dateTime), (.date(let date), .dateTimeOffset):
            return Value.dateTime(LocalDateTime(date: date, time: .midnight)).compared(to: b)
        case (.dateTime, .date), (.dateTimeOffset, .date), (.duration, .timeOfDay): return order(b, a)?.reversed
        case (.timeOfDay(let time), .duration):
            let perSecond = LocalTime.picosecondsPerSecond
            return DayTimeDuration(seconds: time.picoseconds / perSecond, picoseconds: time.picosecond)
                .flatMap { Value.duration($0).compared(to: b) }
        default: return nil
        }
    }

    private static func text(_ value: Value) -> Value {
        if case .enumeration(let text) = value { .string(text) } else { value }
    }

    private static func names(_ value: Value) -> Set<String> {
        switch value {
        case .enumeration(let text), .string(let text): Set(EnumerationType.parts(of: text).map(String.init))
        default: []
        }
    }
}
