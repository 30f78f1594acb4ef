internal import EDM

/// The kind of a literal, which is coarser than its type.
enum LiteralKind: Hashable {
    case null, number, string, boolean, temporal, other

    init(_ value: Value) {
        switch value {
        case .null: self = .null
        case .integer, .single, .double, .decimal: self = .number
        case .string: self = .string
        case .boolean: self = .boolean
        case .date, .timeOfDay, .duration, .dateTime, .dateTimeOffset: self = .temporal
        default: self = .other
        }
    }
}

extension CanonicalFunction {
    /// Returns the kinds of literals that are permitted for an argument, or nil for all kinds.
    func literalKinds(at index: Int) -> Set<LiteralKind>? {
        switch self {
        case .contains, .endswith, .startswith, .indexof, .matchesPattern, .replace, .length, .tolower, .toupper, .trim:
            [.string]
        case .substring: index == 0 ? [.string] : [.number]
        case .round, .floor, .ceiling: [.number]
        case .year, .month, .day, .hour, .minute, .second, .fractionalseconds, .totalseconds, .date, .time,
            .totaloffsetminutes, .years, .months, .days, .hours, .minutes, .seconds:
            [.temporal]
        default: nil
        }
    }
}
