internal import EDM

/// Parses the text of one literal of a known type.
struct LiteralReader {
    let type: PrimitiveType
    let version: ODataVersion
    let form: PrimitiveLiteral.LiteralContext
    let isStrict: Bool

    func malformed(_ text: String) -> LiteralError {
        LiteralError(
            .malformed, "\(clipped(text)) is not a valid \(type.rawValue) of OData \(version.rawValue).",
            type: type)
    }

    func outOfRange(_ text: String) -> LiteralError {
        LiteralError(
            .outOfRange, "\(clipped(text)) is outside the range of \(type.rawValue).", type: type)
    }

    // MARK: URLs

    func url(_ text: String) throws(LiteralError) -> Value {
        switch type {
        case .string: return .string(try unquoted(text))
        case .binary: return version.isLegacy ? try hexadecimal(text) : try base64(prefixed(text, "binary"), of: text)
        case .duration:
            let content = try prefixed(text, "duration", optional: version == .v401)
            return try duration(isAnyCase ? content.uppercased() : content, of: text)
        case _ where type.isGeo: return try geo(text)
        default: break
        }
        guard version.isLegacy else {
            // The URL grammar requires the offset; payloads of some services omit it.
            guard type == .dateTimeOffset else { return try content(text) }
            let capitals = isAnyCase ? text.uppercased() : text
            guard GlobalDateTime(capitals) != nil else { throw malformed(text) }
            return try content(capitals)
        }
        switch type {
        case .dateTime: return try content(prefixed(text, "datetime"))
        case .dateTimeOffset: return try content(prefixed(text, "datetimeoffset"))
        case .time: return try content(prefixed(text, "time"))
        case .guid: return try content(prefixed(text, "guid"))
        case .int64: return try content(withoutSuffix(text, "L"))
        case .decimal: return try content(withoutSuffix(text, "M"))
        case .double: return try content(withoutSuffix(text, "D"))
        case .single: return try content(withoutSuffix(text, "F"))
        default: return try content(text)
        }
    }

    /// Whether letters in the literals of the URL grammar may have any case, as the grammar specifies.
    private var isAnyCase: Bool { !version.isLegacy && !isStrict }

    /// Returns the text between the quotes after a prefix.
    private func prefixed(_ text: String, _ prefix: String, optional: Bool = false) throws(LiteralError) -> String {
        var cursor = TextCursor(text)
        // V2 accepts prefixes in any case (its own test corpus has TiMe'…'); the V4 corpus rejects Duration'…'.
        let isPrefixed = cursor.consume(prefix, ignoringCase: version.isLegacy || !isStrict)
        guard isPrefixed || optional, cursor.consume("'"), text.utf8.last == UInt8(ascii: "'"),
            cursor.index < text.utf8.count
        else { throw malformed(text) }
        return String(decoding: cursor.bytes[cursor.index..<cursor.bytes.count - 1], as: UTF8.self)
    }

    private func withoutSuffix(_ text: String, _ suffix: Character) throws(LiteralError) -> String {
        guard let last = text.utf8.last, let letter = suffix.asciiValue else { throw malformed(text) }
        // The F of INF is not a suffix.
        if (type == .double || type == .single) && ["INF", "-INF", "NaN"].contains(text) { return text }
        if last | 0x20 == letter | 0x20 { return String(text.dropLast()) }
        if isStrict { throw malformed(text) }
        return text
    }

    private func unquoted(_ text: String) throws(LiteralError) -> String {
        let bytes = Array(text.utf8)
        guard bytes.count >= 2, bytes[0] == UInt8(ascii: "'"), bytes[bytes.count - 1] == UInt8(ascii: "'") else {
            throw malformed(text)
        }
        var content: [UInt8] = []
        var index = 1
        while index < bytes.count - 1 {
            if bytes[index] == UInt8(ascii: "'") {
                index += 1
                guard index < bytes.count - 1, bytes[index] == UInt8(ascii: "'") else { throw malformed(text) }
            }
            content.append(bytes[index])
            index += 1
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Parses `X'0A1B'` or `binary'0A1B'` of V2.
    private func hexadecimal(_ text: String) throws(LiteralError) -> Value {
        let digits = text.hasPrefix("X'") ? try prefixed(text, "X") : try prefixed(text, "binary")
        guard digits.utf8.count.isMultiple(of: 2) else { throw malformed(text) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.utf8.count / 2)
        var high: UInt8?
        for byte in digits.utf8 {
            guard let digit = hexadecimalValue(byte) else { throw malformed(text) }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return .binary(bytes)
    }

    private func geo(_ text: String) throws(LiteralError) -> Value {
        let isGeography = type.rawValue.hasPrefix("Edm.Geography")
        let content = try prefixed(text, isGeography ? "geography" : "geometry")
        return try wellKnownText(content, of: text, isStrict: !version.isLegacy)
    }

    private func wellKnownText(
        _ content: String, of text: String, isStrict: Bool = false
    ) throws(LiteralError) -> Value {
        guard let geoJSON = WellKnownText.geoJSON(content, type: type, isStrict: isStrict) else {
            throw malformed(text)
        }
        return .raw(geoJSON)
    }
}

// MARK: Content

extension LiteralReader {
    /// Parses text without quotes, prefixes and suffixes.
    func content(_ text: String) throws(LiteralError) -> Value {
        switch type {
        case .string: return .string(text)
        case .boolean: return .boolean(try boolean(text))
        case .byte, .sbyte, .int16, .int32, .int64: return .integer(try integer(text))
        case .decimal: return .decimal(try decimal(text))
        case .double: return .double(try floatingPoint(text))
        case .single: return .single(try floatingPoint(text))
        case .guid: return .guid(try value(GuidValue(text), text))
        case .date: return .date(try value(LocalDate(text), text))
        case .timeOfDay: return .timeOfDay(try value(LocalTime(text), text))
        case .duration: return try duration(text, of: text)
        case .time: return try time(text)
        case .dateTime: return try dateTime(text)
        case .dateTimeOffset: return try dateTimeOffset(text)
        case .binary: return try base64(text, of: text)
        case _ where type.isGeo: return try wellKnownText(text, of: text)
        default:
            throw LiteralError(.unsupportedType, "Values of \(type.rawValue) have no literals.", type: type)
        }
    }

    private func value<T>(_ value: T?, _ text: String) throws(LiteralError) -> T {
        guard let value else { throw malformed(text) }
        return value
    }

    private func boolean(_ text: String) throws(LiteralError) -> Bool {
        switch text {
        case "true": return true
        case "false": return false
        // V2 inherits these from XML Schema.
        case "1" where version.isLegacy: return true
        case "0" where version.isLegacy: return false
        // In V4, literals are case-insensitive in URLs but not in payloads.
        case _ where form == .url && !version.isLegacy && text.equalsIgnoringCase("true"): return true
        case _ where form == .url && !version.isLegacy && text.equalsIgnoringCase("false"): return false
        default: throw malformed(text)
        }
    }

    private func integer(_ text: String) throws(LiteralError) -> Int64 {
        let digits =
            text.utf8.first == UInt8(ascii: "-") || text.utf8.first == UInt8(ascii: "+") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy(isDigit) else { throw malformed(text) }
        guard let value = Int64(text), type.integerRange?.contains(value) ?? false else { throw outOfRange(text) }
        return value
    }

    private func decimal(_ text: String) throws(LiteralError) -> DecimalValue {
        let number = try value(DecimalValue(text), text)
        if version.isLegacy, !number.isFinite { throw malformed(text) }
        return number
    }

    private func floatingPoint<T: BinaryFloatingPoint & LosslessStringConvertible>(
        _ text: String
    ) throws(LiteralError) -> T {
        switch text {
        case "INF": return .infinity
        case "-INF": return -.infinity
        case "NaN": return .nan
        default: break
        }
        // The standard library also accepts hexadecimal numbers and names of infinity, so the grammar is checked first.
        guard NumberGrammar.isNumber(text), let number = T(text) else { throw malformed(text) }
        guard number.isFinite else { throw outOfRange(text) }
        return number
    }

    private func duration(_ content: String, of text: String) throws(LiteralError) -> Value {
        .duration(try value(DayTimeDuration(content), text))
    }

    /// Parses `Edm.Time` of V2. The strict bounds are those of the reference implementation.
    private func time(_ text: String) throws(LiteralError) -> Value {
        let duration = try value(DayTimeDuration(text), text)
        if isStrict {
            var run = 0
            for byte in text.utf8 {
                let limit =
                    switch byte {
                    case UInt8(ascii: "D"), UInt8(ascii: "H"): 2
                    case UInt8(ascii: "M"): 4
                    default: 5
                    }
                if !isDigit(byte), byte != UInt8(ascii: "S"), run > limit { throw malformed(text) }
                run = isDigit(byte) ? run + 1 : 0
            }
            if duration.significantDigits > 3 { throw malformed(text) }
        }
        return .duration(duration)
    }

    private func dateTime(_ text: String) throws(LiteralError) -> Value {
        if form == .json, let date = SlashDate(text) {
            // The reference implementation rejects the offset, which the grammar allows.
            guard date.offsetMinutes == nil || !isStrict else { throw malformed(text) }
            // The offset is added to the ticks (MS-ODATA 2.2.6.3.1); the result is the intended local time.
            let dateTime = GlobalDateTime(
                millisecondsSince1970: date.milliseconds, offsetMinutes: date.offsetMinutes ?? 0)
            guard let dateTime else { throw outOfRange(text) }
            return .dateTime(dateTime.local)
        }
        // Some services mark their local time as UTC.
        let unmarked = version.isLegacy && text.utf8.last == UInt8(ascii: "Z") ? String(text.dropLast()) : text
        let dateTime = try value(LocalDateTime(unmarked), text)
        try checkFraction(dateTime.time, text)
        return .dateTime(dateTime)
    }

    private func dateTimeOffset(_ text: String) throws(LiteralError) -> Value {
        if form == .json, version.isLegacy, let date = SlashDate(text) {
            guard
                let dateTime = GlobalDateTime(
                    millisecondsSince1970: date.milliseconds, offsetMinutes: date.offsetMinutes ?? 0)
            else { throw outOfRange(text) }
            return .dateTimeOffset(dateTime)
        }
        // The standard's grammar requires an offset, but the reference implementation of each version interprets a time
        // without one as UTC.
        let dateTime = try value(
            GlobalDateTime(text) ?? LocalDateTime(text).flatMap { GlobalDateTime(local: $0, offsetMinutes: 0) }, text)
        try checkFraction(dateTime.local.time, text)
        if isStrict, version.isLegacy, dateTime.local.time.significantDigits > 3 { throw malformed(text) }
        return .dateTimeOffset(dateTime)
    }

    /// Checks the number of fractional digits. V2 defines seven; its reference implementation accepts nine.
    private func checkFraction(_ time: LocalTime, _ text: String) throws(LiteralError) {
        if version.isLegacy, time.fractionDigits > 9 { throw malformed(text) }
    }

    private func base64(_ content: String, of text: String) throws(LiteralError) -> Value {
        var encoded = Array(content.utf8)
        if version.isLegacy {
            // XML wraps long values. A carriage return on its own is neither a line end nor Base64.
            let all = encoded
            encoded = all.indices.filter { index in
                let isLineEnd =
                    all[index] == 0x0A || (all[index] == 0x0D && index + 1 < all.count && all[index + 1] == 0x0A)
                return !isLineEnd && all[index] != 0x20 && all[index] != 0x09
            }.map { all[$0] }
        }
        guard let bytes = Base64.decode(encoded) else { throw malformed(text) }
        return .binary(bytes)
    }
}

/// The grammar `[+-]digits[.digits][e[+-]digits]`.
enum NumberGrammar {
    static func isNumber(_ text: String) -> Bool {
        var cursor = TextCursor(text)
        if !cursor.consume("-") { _ = cursor.consume("+") }
        guard takeDigits(&cursor) else { return false }
        if cursor.consume("."), !takeDigits(&cursor) { return false }
        if cursor.consume("e") || cursor.consume("E") {
            if !cursor.consume("-") { _ = cursor.consume("+") }
            guard takeDigits(&cursor) else { return false }
        }
        return cursor.isAtEnd
    }

    private static func takeDigits(_ cursor: inout TextCursor) -> Bool {
        let start = cursor.index
        while let byte = cursor.next, isDigit(byte) { cursor.skip() }
        return cursor.index > start
    }
}
