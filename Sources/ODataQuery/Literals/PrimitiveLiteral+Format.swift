package import EDM

extension PrimitiveLiteral {
    /// Returns the canonical text of a value of `type`. Parsing the text returns an equal value.
    ///
    /// `/Date(…)/` counts milliseconds: a V2 date and time with a higher precision is written in ISO 8601 instead,
    /// which services accept as well, so that it is not truncated. A value whose kind does not match the type is
    /// written as its own kind. Complex values and collections, which have no literal form, are written as JSON.
    package static func format(
        _ value: Value, as type: PrimitiveType? = nil, version: ODataVersion, form: LiteralContext
    ) -> String {
        if case .null = value { return "null" }
        let type = type ?? naturalType(of: value, version: version)
        let text = content(value, type, version, form)
        return form == .url ? url(text, value, type, version) : text
    }

    /// Returns the V4 URL literal `Namespace.Type'Member'`.
    ///
    /// - Parameter members: One name or number, or several joined with commas. The grammar permits no spaces.
    package static func format(enumeration members: String, typeName: String) -> String {
        "\(typeName)'\(EnumerationType.parts(of: members, omittingEmptySubsequences: false).joined(separator: ","))'"
    }

    /// Returns the type of a value without further context; `Edm.String` for enumeration members.
    package static func naturalType(of value: Value, version: ODataVersion) -> PrimitiveType {
        switch value {
        case .boolean: .boolean
        case .integer(let number): PrimitiveType.int32.integerRange?.contains(number) == true ? .int32 : .int64
        case .single: .single
        case .double: .double
        case .decimal: .decimal
        case .string, .enumeration: .string
        case .binary: .binary
        case .guid: .guid
        case .date: .date
        case .timeOfDay: .timeOfDay
        case .duration: version.isLegacy ? .time : .duration
        case .dateTime: .dateTime
        case .dateTimeOffset: .dateTimeOffset
        case .null, .raw, .complex, .collection: .untyped
        }
    }

    private static func content(
        _ value: Value, _ type: PrimitiveType, _ version: ODataVersion, _ form: LiteralContext
    ) -> String {
        switch value {
        case .null: return "null"
        case .boolean(let flag): return flag ? "true" : "false"
        case .integer(let number): return String(number)
        case .single(let number): return floatingPoint(number)
        case .double(let number): return floatingPoint(number)
        case .decimal(let number): return number.text
        case .string(let text), .enumeration(let text): return text
        case .guid(let guid): return guid.description
        case .date(let date):
            return type == .dateTime
                ? content(.dateTime(LocalDateTime(date: date, time: .midnight)), type, version, form) : date.description
        case .timeOfDay(let time): return time.description
        case .duration(let duration): return version.isLegacy ? duration.textWithoutDays : duration.description
        case .dateTime(let dateTime):
            guard version.isLegacy, form == .json, dateTime.isWholeMilliseconds else { return dateTime.description }
            return SlashDate.text(dateTime.millisecondsSince1970)
        case .dateTimeOffset(let dateTime):
            guard version.isLegacy, form == .json, dateTime.local.isWholeMilliseconds else {
                return dateTime.description
            }
            return SlashDate.text(dateTime.millisecondsSince1970, offsetMinutes: dateTime.offsetMinutes)
        case .binary(let bytes):
            if form == .url, version.isLegacy { return hexadecimal(bytes) }
            return Base64.encode(bytes, version.isLegacy ? .standard : .urlSafe)
        case .raw(let json): return form == .json ? json : WellKnownText.text(geoJSON: json, type: type) ?? json
        case .complex, .collection:
            var writer = JSONWriter()
            ValueJSONWriter(version: version, model: nil).write(value, to: &writer)
            return writer.text
        }
    }

    /// Adds the quotes, prefix or suffix that a URL requires.
    private static func url(_ text: String, _ value: Value, _ type: PrimitiveType, _ version: ODataVersion) -> String {
        switch value {
        case .string, .enumeration: return quoted(text)
        case .binary: return "binary'\(text)'"
        case .duration: return version.isLegacy ? "time'\(text)'" : "duration'\(text)'"
        case .raw where type.isGeo:
            return (type.rawValue.hasPrefix("Edm.Geography") ? "geography'" : "geometry'") + "\(text)'"
        default: break
        }
        guard version.isLegacy else { return text }
        switch value {
        case .dateTime: return "datetime'\(text)'"
        case .date: return type == .dateTime ? "datetime'\(text)'" : text
        case .dateTimeOffset: return "datetimeoffset'\(text)'"
        case .guid: return "guid'\(text)'"
        case .double(let number): return number.isFinite ? text + "D" : text
        case .single(let number): return number.isFinite ? text + "F" : text
        case .decimal: return text + "M"
        case .integer:
            switch type {
            case .int64: return text + "L"
            case .decimal: return text + "M"
            case .double: return text + "D"
            case .single: return text + "F"
            default: return text
            }
        default: return text
        }
    }

    static func quoted(_ text: String) -> String {
        var result = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { result += "'" }
            result.unicodeScalars.append(scalar)
        }
        return result + "'"
    }

    /// Returns the shortest text that parses to the same number, in OData's notation: `8`, `0.5`, `4.2E-8`, `INF`.
    private static func floatingPoint<T: BinaryFloatingPoint & LosslessStringConvertible>(_ number: T) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-INF" : "INF" }
        let text = number.description.dropTrailingZeroFraction
        guard let mark = text.firstIndex(of: "e") else { return text }
        var exponent = text[text.index(after: mark)...]
        let isNegative = exponent.first == "-"
        exponent = exponent.drop { $0 == "-" || $0 == "+" }
        exponent = exponent.drop { $0 == "0" }
        return String(text[..<mark]) + "E" + (isNegative ? "-" : "") + exponent
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
