package import EDM

/// The canonical functions on values.
///
/// The SQL functions of a store use them as well, so that a query has the same result whether it is evaluated or
/// compiled.
package enum FunctionLibrary {
    /// Applies a function. Null arguments result in null.
    ///
    /// Functions that need more than values (`now`, the offline functions) throw an error.
    package static func apply(_ function: CanonicalFunction, _ arguments: [Value]) throws(EvaluationError) -> Value {
        guard function.arity.contains(arguments.count) else {
            throw EvaluationError(.wrongOperand, "\(function.rawValue) does not accept \(arguments.count) arguments.")
        }
        if arguments.contains(.null) { return .null }
        switch function {
        case .concat: return try concat(arguments)
        case .contains, .endswith, .startswith, .indexof, .hassubset, .hassubsequence:
            return try search(function, arguments[0], arguments[1])
        case .length, .substring, .tolower, .toupper, .trim, .replace: return try text(function, arguments)
        case .round: return try ValueArithmetic.round(arguments[0], .toNearestOrAwayFromZero)
        case .floor: return try ValueArithmetic.round(arguments[0], .down)
        case .ceiling: return try ValueArithmetic.round(arguments[0], .up)
        case .maxdatetime: return moment(year: 9999, month: 12, day: 31, picoseconds: LocalTime.picosecondsPerDay - 1)
        case .mindatetime: return moment(year: 1, month: 1, day: 1, picoseconds: 0)
        case .year, .month, .day, .hour, .minute, .second, .fractionalseconds, .totalseconds, .date, .time,
            .totaloffsetminutes, .years, .months, .days, .hours, .minutes, .seconds:
            return try TemporalFunctions.apply(function, arguments[0])
        case .matchesPattern:
            let pattern = try TextPattern(try string(arguments[1], function))
            return .boolean(pattern.isFound(in: try string(arguments[0], function)))
        case .geoDistance, .geoIntersects, .geoLength: return try GeoFunctions.apply(function, arguments, family: nil)
        case .now, .isLocal, .hasPendingChanges, .isInErrorState, .entityExists, .upsertedLastDownload,
            .hasLocalRelatives, .hasRelativesWithPendingChanges, .isdefined:
            throw EvaluationError(.unsupported, "The function \(function.rawValue) is not supported here.")
        }
    }

    private static func moment(year: Int, month: Int, day: Int, picoseconds: Int64) -> Value {
        guard let date = LocalDate(year: year, month: month, day: day),
            let time = LocalTime(picoseconds: picoseconds, fractionDigits: picoseconds == 0 ? 0 : 12),
            let moment = GlobalDateTime(local: LocalDateTime(date: date, time: time), offsetMinutes: 0)
        else { return .null }
        return .dateTimeOffset(moment)
    }

    private static func wrong(_ function: CanonicalFunction, _ value: Value) -> EvaluationError {
        EvaluationError(.wrongOperand, "\(function.rawValue) cannot be applied to \(value.kindName).")
    }

    // MARK: Strings

    private static func string(_ value: Value, _ function: CanonicalFunction) throws(EvaluationError) -> String {
        switch value {
        case .string(let text), .enumeration(let text): return text
        default: throw wrong(function, value)
        }
    }

    private static func concat(_ arguments: [Value]) throws(EvaluationError) -> Value {
        if case .collection = arguments[0] {
            var items: [Value] = []
            for argument in arguments {
                guard case .collection(let part) = argument else { throw wrong(.concat, argument) }
                items += part
                guard items.count <= itemLimit else { throw tooLong(.concat) }
            }
            return .collection(items)
        }
        // V2 services also concatenate values other than strings.
        var text = ""
        for argument in arguments {
            if case .collection = argument { throw wrong(.concat, argument) }
            text += PrimitiveLiteral.format(argument, version: .v4, form: .text)
            guard text.utf8.count <= textLimit else { throw tooLong(.concat) }
        }
        return .string(text)
    }

    private static func text(_ function: CanonicalFunction, _ arguments: [Value]) throws(EvaluationError) -> Value {
        if case .collection(let items) = arguments[0] {
            switch function {
            case .length: return .integer(Int64(items.count))
            case .substring: return .collection(Array(try part(items, function, arguments)))
            default: throw wrong(function, arguments[0])
            }
        }
        let text = try string(arguments[0], function)
        switch function {
        case .length: return .integer(Int64(text.unicodeScalars.count))
        case .substring:
            let scalars = try part(Array(text.unicodeScalars), function, arguments)
            var result = String.UnicodeScalarView()
            result.append(contentsOf: scalars)
            return .string(String(result))
        case .tolower: return .string(text.lowercased())
        case .toupper: return .string(text.uppercased())
        case .trim:
            let scalars = text.unicodeScalars.drop { $0.properties.isWhitespace }
            let end = scalars.lastIndex { !$0.properties.isWhitespace }.map { scalars.index(after: $0) }
            return .string(String(scalars[..<(end ?? scalars.startIndex)]))
        case .replace:
            return .string(try replace(text, try string(arguments[1], function), try string(arguments[2], function)))
        default: throw wrong(function, arguments[0])
        }
    }

    /// Evaluates `substring(x,start[,length])`. Positions outside of the value are ignored; a negative start is the
    /// beginning.
    private static func part<Item>(
        _ items: [Item], _ function: CanonicalFunction, _ arguments: [Value]
    ) throws(EvaluationError) -> ArraySlice<Item> {
        guard case .integer(let start) = arguments[1] else { throw wrong(function, arguments[1]) }
        let first = Int(clamping: max(0, start))
        guard first < items.count else { return [] }
        guard arguments.count > 2 else { return items[first...] }
        guard case .integer(let length) = arguments[2] else { throw wrong(function, arguments[2]) }
        return items[first...].prefix(Int(clamping: max(0, length)))
    }

    /// The maximum size of a text in bytes, and below the maximum number of items. Without limits, nested calls could
    /// grow without bounds.
    private static let textLimit = 16 << 20
    private static let itemLimit = 1 << 20
    private static let pairLimit = 1 << 26

    private static func tooLong(_ function: CanonicalFunction) -> EvaluationError {
        EvaluationError(.outOfRange, "The string or collection is too long for \(function.rawValue).")
    }

    private static func replace(
        _ text: String, _ find: String, _ replacement: String
    ) throws(EvaluationError) -> String {
        let (bytes, pattern) = (Array(text.utf8), Array(find.utf8))
        guard !pattern.isEmpty else { return text }
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard result.count <= textLimit else { throw tooLong(.replace) }
            if bytes[index...].starts(with: pattern) {
                result += replacement.utf8
                index += pattern.count
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    // MARK: Search

    private static func search(
        _ function: CanonicalFunction, _ whole: Value, _ part: Value
    ) throws(EvaluationError) -> Value {
        if case .collection(let items) = whole, case .collection(let parts) = part {
            // Each item may have to be compared with every item of the part.
            guard items.count < pairLimit / max(1, parts.count) else { throw tooLong(function) }
            return collectionSearch(function, items, parts)
        }
        // Comparing UTF-8 bytes is equivalent to comparing Unicode scalars: no normalization, no locale.
        let bytes = Array(try string(whole, function).utf8)
        let pattern = Array(try string(part, function).utf8)
        switch function {
        case .startswith: return .boolean(bytes.starts(with: pattern))
        case .endswith:
            return .boolean(bytes.count >= pattern.count && bytes.suffix(pattern.count).elementsEqual(pattern))
        case .contains: return .boolean(firstIndex(of: pattern, in: bytes, by: ==) != nil)
        case .indexof:
            guard let index = firstIndex(of: pattern, in: bytes, by: ==) else { return .integer(-1) }
            // Continuation bytes are not characters of their own.
            return .integer(Int64(bytes[..<index].count { $0 & 0xC0 != 0x80 }))
        default: throw wrong(function, whole)
        }
    }

    private static func collectionSearch(_ function: CanonicalFunction, _ items: [Value], _ parts: [Value]) -> Value {
        // The comparison of `eq`: 1 equals 1.0.
        let isEqual = ValueComparison.isEqual
        switch function {
        case .startswith: return .boolean(items.starts(with: parts, by: isEqual))
        case .endswith:
            return .boolean(
                items.count >= parts.count && items.suffix(parts.count).elementsEqual(parts, by: isEqual))
        case .contains: return .boolean(firstIndex(of: parts, in: items, by: isEqual) != nil)
        case .indexof: return .integer(firstIndex(of: parts, in: items, by: isEqual).map(Int64.init) ?? -1)
        case .hassubset:
            // Every item must occur as often as in the part.
            var rest = items
            for part in parts {
                guard let index = rest.firstIndex(where: { isEqual($0, part) }) else { return .boolean(false) }
                rest.remove(at: index)
            }
            return .boolean(true)
        default:
            var remaining = parts[...]
            for item in items {
                guard let next = remaining.first else { break }
                if isEqual(item, next) { remaining.removeFirst() }
            }
            return .boolean(remaining.isEmpty)
        }
    }

    private static func firstIndex<Item>(
        of part: [Item], in whole: [Item], by isEqual: (Item, Item) -> Bool
    ) -> Int? {
        guard part.count <= whole.count else { return nil }
        return (0...(whole.count - part.count)).first { whole[$0...].starts(with: part, by: isEqual) }
    }
}
