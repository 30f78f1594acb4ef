package import EDM

extension PrimitiveLiteral {
    /// Scans the primitive literal at the start of `bytes`, as in an expression.
    ///
    /// Integers are `Edm.Int32`, or `Edm.Int64` if they exceed it, or `Edm.Decimal` beyond that. Null has the type
    /// `Edm.Untyped`. Use ``scanEnumeration(_:)`` for enumeration literals. The caller checks the bytes that follow.
    ///
    /// - Returns: The value, its type, and its length in bytes, or nil if no literal begins there.
    package static func scan(
        _ bytes: ArraySlice<UInt8>, version: ODataVersion
    ) -> (value: Value, type: PrimitiveType, length: Int)? {
        guard let first = bytes.first else { return nil }
        if first == UInt8(ascii: "'") {
            guard let end = quotedEnd(bytes, from: bytes.startIndex) else { return nil }
            return read(bytes[..<end], as: .string, version)
        }
        if let word = run(of: bytes, where: \.isWordPart), word.endIndex < bytes.endIndex,
            bytes[word.endIndex] == UInt8(ascii: "'"), first.isWordStart
        {
            return prefixed(bytes, word: word, version)
        }
        guard let run = run(of: bytes, where: \.isLiteralPart) else { return nil }
        let text = String(decoding: run, as: UTF8.self)
        switch text {
        case "null": return (.null, .untyped, 4)
        case "INF", "-INF", "NaN": return read(run, as: .double, version)
        default: break
        }
        if version.isLegacy { return legacyNumber(run, text) }
        if text.equalsIgnoringCase("true") || text.equalsIgnoringCase("false") {
            return read(run, as: .boolean, version)
        }
        // A GUID may begin with digits and therefore look like a number or date at first.
        if run.count == 36, let guid = read(run, as: .guid, version) { return guid }
        if run.contains(UInt8(ascii: ":")) {
            let hasDate = run.contains { $0 | 0x20 == UInt8(ascii: "t") }
            return read(run, as: hasDate ? .dateTimeOffset : .timeOfDay, version)
        }
        if run.contains(UInt8(ascii: "-")), let date = read(run, as: .date, version) { return date }
        return number(run, text, version, fractional: .decimal)
    }

    /// Scans `Namespace.Type'Member'` or `Namespace.Type'A,B,1'` at the start of `bytes`.
    ///
    /// - Returns: The type's qualified name, the members as written, and the length in bytes; or nil if no such literal
    ///   begins there.
    package static func scanEnumeration(_ bytes: ArraySlice<UInt8>) -> (typeName: String, members: String, length: Int)?
    {
        guard let name = run(of: bytes, where: { $0.isWordPart || $0 == UInt8(ascii: ".") }),
            name[name.startIndex].isWordStart,
            name.contains(UInt8(ascii: ".")), name.endIndex < bytes.endIndex,
            let end = quotedEnd(bytes, from: name.endIndex)
        else { return nil }
        let members = String(decoding: bytes[name.endIndex + 1..<end - 1], as: UTF8.self)
        guard isEnumerationValue(members) else { return nil }
        return (String(decoding: name, as: UTF8.self), members, end - bytes.startIndex)
    }

    /// Returns the members of an enumeration literal that is the whole text, or nil.
    ///
    /// Accepts `NS.Color'Red'`, the form without type name `'Red'` (OData 4.01 Part 2, section 4.3.1), and `Red`, which
    /// some services use in keys.
    static func parse(enumeration text: String) -> String? {
        let bytes = Array(text.utf8)
        if let (_, members, length) = scanEnumeration(bytes[...]) { return length == bytes.count ? members : nil }
        let isQuoted = bytes.count > 2 && bytes.first == UInt8(ascii: "'") && bytes.last == UInt8(ascii: "'")
        let members = isQuoted ? String(decoding: bytes[1..<(bytes.count - 1)], as: UTF8.self) : text
        return isEnumerationValue(members) ? members : nil
    }

    /// Returns whether `text` is a comma-separated list of names or integers.
    static func isEnumerationValue(_ text: String) -> Bool {
        text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).allSatisfy { part in
            guard let first = part.first else { return false }
            if first.isWordStart { return part.allSatisfy(\.isWordPart) }
            return Int64(String(decoding: part, as: UTF8.self)) != nil
        }
    }

    private static func read(
        _ bytes: ArraySlice<UInt8>, as type: PrimitiveType, _ version: ODataVersion
    ) -> (value: Value, type: PrimitiveType, length: Int)? {
        guard let text = String(validating: bytes, as: UTF8.self),
            let value = try? parse(text, as: type, version: version, form: .url)
        else { return nil }
        return (value, type, bytes.count)
    }

    private static func run(of bytes: ArraySlice<UInt8>, where belongs: (UInt8) -> Bool) -> ArraySlice<UInt8>? {
        let run = bytes.prefix(while: belongs)
        return run.isEmpty ? nil : run
    }

    /// Returns the index after the closing quote of the string that begins at `start`. Doubled quotes do not close it.
    private static func quotedEnd(_ bytes: ArraySlice<UInt8>, from start: Int) -> Int? {
        guard start < bytes.endIndex, bytes[start] == UInt8(ascii: "'") else { return nil }
        var index = start + 1
        while index < bytes.endIndex {
            if bytes[index] == UInt8(ascii: "'") {
                guard index + 1 < bytes.endIndex, bytes[index + 1] == UInt8(ascii: "'") else { return index + 1 }
                index += 1
            }
            index += 1
        }
        return nil
    }

    private static func prefixed(
        _ bytes: ArraySlice<UInt8>, word: ArraySlice<UInt8>, _ version: ODataVersion
    ) -> (value: Value, type: PrimitiveType, length: Int)? {
        guard let end = quotedEnd(bytes, from: word.endIndex) else { return nil }
        let literal = bytes[..<end]
        let prefix = String(decoding: word, as: UTF8.self).lowercased()
        switch prefix {
        case "binary": return read(literal, as: .binary, version)
        case "geography", "geometry":
            let text = String(decoding: bytes[word.endIndex + 1..<end - 1], as: UTF8.self)
            guard let type = WellKnownText.type(of: text, isGeography: prefix == "geography") else { return nil }
            return read(literal, as: type, version)
        case "duration" where !version.isLegacy: return read(literal, as: .duration, version)
        case "x" where version.isLegacy: return read(literal, as: .binary, version)
        case "datetime" where version.isLegacy: return read(literal, as: .dateTime, version)
        case "datetimeoffset" where version.isLegacy: return read(literal, as: .dateTimeOffset, version)
        case "time" where version.isLegacy: return read(literal, as: .time, version)
        case "guid" where version.isLegacy: return read(literal, as: .guid, version)
        default: return nil
        }
    }

    /// Scans a V2 number. The suffix determines the type; without one, an integer has an integer type and any other
    /// number is an `Edm.Double`.
    private static func legacyNumber(
        _ run: ArraySlice<UInt8>, _ text: String
    ) -> (value: Value, type: PrimitiveType, length: Int)? {
        switch run.last {
        case UInt8(ascii: "L"), UInt8(ascii: "l"): return read(run, as: .int64, .v2)
        case UInt8(ascii: "M"), UInt8(ascii: "m"): return read(run, as: .decimal, .v2)
        case UInt8(ascii: "D"), UInt8(ascii: "d"): return read(run, as: .double, .v2)
        case UInt8(ascii: "F"), UInt8(ascii: "f"): return read(run, as: .single, .v2)
        default: break
        }
        if text == "true" || text == "false" { return read(run, as: .boolean, .v2) }
        return number(run, text, .v2, fractional: .double)
    }

    private static func number(
        _ run: ArraySlice<UInt8>, _ text: String, _ version: ODataVersion, fractional: PrimitiveType
    ) -> (value: Value, type: PrimitiveType, length: Int)? {
        guard NumberGrammar.isNumber(text) else { return nil }
        if let integer = Int64(text) {
            return (.integer(integer), naturalType(of: .integer(integer), version: version), run.count)
        }
        let isExponential = run.contains(UInt8(ascii: "e")) || run.contains(UInt8(ascii: "E"))
        let isWhole = !isExponential && !run.contains(UInt8(ascii: "."))
        return read(run, as: isWhole ? .decimal : isExponential ? .double : fractional, version)
    }
}

extension UInt8 {
    fileprivate var isWordStart: Bool {
        (0x41...0x5A).contains(self & 0xDF) || self == UInt8(ascii: "_") || self >= 0x80
    }
    fileprivate var isWordPart: Bool { isWordStart || (0x30...0x39).contains(self) }

    /// Whether the byte may occur in numbers, dates, times and GUIDs.
    fileprivate var isLiteralPart: Bool {
        isWordPart || self == UInt8(ascii: "-") || self == UInt8(ascii: "+") || self == UInt8(ascii: ".")
            || self == UInt8(ascii: ":")
    }
}
