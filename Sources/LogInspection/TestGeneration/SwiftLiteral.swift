import EDM

/// Generates Swift source for values and texts.
enum SwiftLiteral {
    /// Returns a single-line string literal.
    static func text(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            case _
            where scalar.value < 0x20 || scalar.value == 0x7F || scalar.properties.generalCategory == .format
                || scalar.properties.generalCategory == .control:
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }

    /// Returns text for a comment or a raw identifier: one line without backticks and backslashes.
    static func words(_ text: String) -> String {
        RecordSummary.oneLine(String(text.map { $0 == "`" || $0 == "\\" ? "'" : $0 }), limit: 200)
    }

    /// Returns a valid identifier.
    static func identifier(_ text: String) -> String {
        let letters = text.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return letters.first?.isLetter == true ? letters : "Log" + letters
    }

    /// Returns an expression of the type `Value`. It may throw.
    static func value(_ value: Value) -> String {
        switch value {
        case .null: ".null"
        case .boolean(let flag): ".boolean(\(flag))"
        case .integer(let number): ".integer(\(number == .min ? "Int64.min" : String(number)))"
        case .single(let number): ".single(Float(bitPattern: \(number.bitPattern)))"
        case .double(let number): ".double(Double(bitPattern: \(number.bitPattern)))"
        case .decimal(let number): parsed("decimal", "DecimalValue", number.text)
        case .string(let string): ".string(\(text(string)))"
        case .binary(let bytes): ".binary([\(bytes.map { String($0) }.joined(separator: ", "))])"
        case .guid(let guid): parsed("guid", "GuidValue", "\(guid)")
        case .date(let date): parsed("date", "LocalDate", "\(date)")
        case .timeOfDay(let time): parsed("timeOfDay", "LocalTime", "\(time)")
        case .duration(let duration): parsed("duration", "DayTimeDuration", "\(duration)")
        case .dateTime(let time): parsed("dateTime", "LocalDateTime", "\(time)")
        case .dateTimeOffset(let time): parsed("dateTimeOffset", "GlobalDateTime", "\(time)")
        case .enumeration(let name): ".enumeration(\(text(name)))"
        case .raw(let json): ".raw(\(text(json)))"
        case .complex(let complex):
            ".complex(ComplexValue(type: \(complex.type.map(text) ?? "nil"), properties: \(properties(complex.properties))))"
        case .collection(let items): ".collection([\(items.map(self.value).joined(separator: ", "))])"
        }
    }

    private static func properties(_ values: PropertyValues) -> String {
        values.isEmpty
            ? "[:]" : "[" + values.map { "\(text($0.name)): \(value($0.value))" }.joined(separator: ", ") + "]"
    }

    private static func parsed(_ name: String, _ type: String, _ text: String) -> String {
        ".\(name)(try #require(\(type)(\(self.text(text)))))"
    }
}
