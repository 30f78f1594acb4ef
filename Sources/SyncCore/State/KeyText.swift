package import EDM
package import ODataQuery

/// The text of a key in the key map and the views. Equal keys have the same text, regardless of their notation in a
/// payload.
package enum KeyText {
    /// Returns the text of an entity's key, or nil if a key property is unset or null.
    package static func of(_ values: PropertyValues, type: EntityType) -> String? {
        // Most keys have one property, and each row of a page needs this text.
        guard type.keyParts.count == 1 else { return KeyPredicate(of: type, in: values).map(of) }
        let part = type.keyParts[0]
        guard let value = values.value(at: part.path), value != .null else { return nil }
        return part.name + "=" + text(part.identity(of: value))
    }

    package static func of(_ key: KeyPredicate) -> String {
        if key.values.count == 1 { return key.values[0].name + "=" + text(key.identity(0)) }
        return key.values.indices.map { key.values[$0].name + "=" + text(key.identity($0)) }.joined(separator: ",")
    }

    /// Returns the key as in the parentheses of an entity's URL: `1`, or `Currency='EUR',Day=1`.
    package static func predicate(_ key: KeyPredicate) -> String {
        key.values.count == 1 ? text(key.values[0].value) : of(key)
    }

    /// Returns the text of a key as it is now, given one from a snapshot. Earlier versions wrote times as in the
    /// payload, with an offset and trailing zeros.
    static func current(_ former: String) -> String {
        guard former.utf8.contains(UInt8(ascii: ":")) else { return former }
        return outsideQuotes(of: former) { part in
            guard part.utf8.contains(UInt8(ascii: ":")) else { return String(part) }
            return part.split(separator: ",", omittingEmptySubsequences: false).map(currentTime).joined(separator: ",")
        }
    }

    /// Returns the text of a key of the type as it is now, given one from a snapshot. Earlier versions wrote enumeration
    /// members as in the payload.
    package static func current(_ former: String, of type: EntityType?) -> String {
        guard let parts = type?.keyParts, parts.contains(where: \.isEnumeration), former.contains("=enumeration(")
        else { return former }
        return outsideQuotes(of: former) { text in
            parts.reduce(String(text)) { $1.isEnumeration ? currentMember(in: $0, $1) : $0 }
        }
    }

    private static func outsideQuotes(of key: String, _ change: (Substring) -> String) -> String {
        // Every second part is the content of a quoted text.
        let parts = key.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return parts.indices.map { $0.isMultiple(of: 2) ? change(Substring(parts[$0])) : String(Substring(parts[$0])) }
            .joined(separator: "'")
    }

    /// Returns the text with the present form of a former `Color=enumeration("Red")`.
    private static func currentMember(in text: String, _ part: KeyPart) -> String {
        // The name of a part may be the end of another name.
        let start = text.ranges(of: part.name + "=enumeration(\"").first { range in
            text[..<range.lowerBound].last.map { $0 == "," || $0 == "(" } ?? true
        }
        guard let start, let end = text[start.upperBound...].firstRange(of: "\")") else { return text }
        let members = text[start.upperBound..<end.lowerBound]
        // A name that is escaped in the text is not declared, and has only one notation.
        if members.contains("\\") { return text }
        return text[..<start.lowerBound] + part.name + "=" + self.text(part.identity(of: .enumeration(String(members))))
            + text[end.upperBound...]
    }

    /// Returns the text of one key value, which may have a prefix and a suffix as in ``ContainedKey``.
    private static func currentTime(_ former: Substring) -> String {
        guard let equals = former.firstIndex(of: "="), let open = former[equals...].firstIndex(of: "("),
            let close = former[open...].firstIndex(of: ")")
        else { return String(former) }
        let literal = String(former[former.index(after: open)..<close])
        let value: Value? =
            switch former[equals..<open] {
            case "=timeOfDay": LocalTime(literal).map(Value.timeOfDay)
            case "=dateTime": LocalDateTime(literal).map(Value.dateTime)
            case "=dateTimeOffset": GlobalDateTime(literal).map(Value.dateTimeOffset)
            default: nil
            }
        guard let value else { return String(former) }
        return former[...equals] + text(value) + former[former.index(after: close)...]
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .string(let text): "'" + doubledQuotes(text) + "'"
        case .integer(let number): String(number)
        case .boolean(let flag): flag ? "true" : "false"
        // 1.0 and 1.00 are equal keys.
        case .decimal(let number): shortened(number.text)
        case .guid(let guid): guid.description
        // The number of fractional digits and the offset are notation.
        case .timeOfDay(let time): "timeOfDay(\(ShortText.string { time.write(&$0, isCanonical: true) }))"
        case .dateTime(let time): "dateTime(\(ShortText.string { time.write(&$0, isCanonical: true) }))"
        case .dateTimeOffset(let time):
            "dateTimeOffset(\(ShortText.string { time.inUTC.write(&$0, isCanonical: true) }))"
        default: String(describing: value)
        }
    }

    private static func shortened(_ decimal: String) -> String {
        guard decimal.contains(".") else { return decimal == "-0" ? "0" : decimal }
        let dropped = decimal.reversed().drop { $0 == "0" }
        let short = String(dropped.first == "." ? dropped.dropFirst().reversed() : dropped.reversed())
        return short == "-0" ? "0" : short
    }

    private static func doubledQuotes(_ text: String) -> String {
        text.contains("'") ? text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") : text
    }
}
