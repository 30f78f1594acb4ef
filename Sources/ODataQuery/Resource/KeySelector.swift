package import EDM

/// The content of the parentheses after an entity set or a collection.
package enum KeySelector: Sendable, Hashable {
    case key(KeyPredicate)
    /// `(~17)`: the store's own entity ID. This form occurs only in the readLinks of a store; services do not support
    /// it.
    case entityID(UInt64)
}

extension KeySelector {
    /// Parses a key predicate with its parentheses, without percent-encoding: `(1)`, `(A=1,B='x')`, `(~17)`.
    ///
    /// V4 also accepts parameter aliases, whose values are in `aliases`.
    ///
    /// - Parameter alternateKeys: The alternate keys of the set, in addition to those of the type.
    package static func parse(
        _ text: String, of type: EntityType, version: ODataVersion, aliases: [QueryOptions.ParameterAlias] = [],
        alternateKeys: [AlternateKey] = []
    ) throws(URLSyntaxError) -> KeySelector {
        func invalid(_ message: String, at offset: Int = 0) -> URLSyntaxError {
            URLSyntaxError(.invalidKey, message, in: text, at: offset)
        }
        guard text.utf8.first == UInt8(ascii: "("), text.utf8.last == UInt8(ascii: ")"), text.utf8.count > 2 else {
            throw invalid("Expected a key predicate in parentheses.")
        }
        let content = text.dropFirst().dropLast()
        if content.utf8.first == UInt8(ascii: "~") {
            let digits = content.dropFirst()
            guard digits.utf8.allSatisfy(\.isDigit), let number = UInt64(digits) else {
                throw invalid("A tilde must be followed by an entity ID, a decimal number.", at: 1)
            }
            return .entityID(number)
        }
        let parts = try WrittenKeyPart.split(content, in: text)
        let key = KeyLiterals(type: type, version: version, aliases: aliases, text: text)
        return .key(try key.predicate(parts, alternateKeys: type.alternateKeys + alternateKeys))
    }
}

/// One value of a key predicate as text, with its name if it has one.
struct WrittenKeyPart {
    let name: String?
    let value: String
    let offset: Int

    /// Splits at commas outside of quotes.
    static func split(_ content: Substring, in text: String) throws(URLSyntaxError) -> [WrittenKeyPart] {
        let bytes = Array(content.utf8)
        var parts: [WrittenKeyPart] = []
        var start = 0
        var index = 0
        var equals: Int?
        var isQuoted = false
        while index <= bytes.count {
            let byte = index < bytes.count ? bytes[index] : UInt8(ascii: ",")
            if index == bytes.count, isQuoted {
                throw URLSyntaxError(.invalidKey, "A string in the key is not closed.", in: text, at: start + 1)
            }
            if byte == UInt8(ascii: "'") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: "="), !isQuoted, equals == nil {
                equals = index
            } else if byte == UInt8(ascii: ","), !isQuoted {
                let begin = equals.map { $0 + 1 } ?? start
                let name = equals.map { String(decoding: bytes[start..<$0], as: UTF8.self) }
                guard begin < index, name != "" else {
                    throw URLSyntaxError(.invalidKey, "A value of the key is missing.", in: text, at: start + 1)
                }
                parts.append(
                    WrittenKeyPart(
                        name: name, value: String(decoding: bytes[begin..<index], as: UTF8.self), offset: begin + 1))
                start = index + 1
                equals = nil
            }
            index += 1
        }
        return parts
    }
}

/// Parses the values of a key predicate with the types of the key properties.
private struct KeyLiterals {
    let type: EntityType
    let version: ODataVersion
    let aliases: [QueryOptions.ParameterAlias]
    /// The whole predicate, for errors.
    let text: String

    /// Returns the primary key, or the alternate key whose names match those of the parts.
    func predicate(
        _ parts: [WrittenKeyPart], alternateKeys: [AlternateKey]
    ) throws(URLSyntaxError) -> KeyPredicate {
        let names = parts.compactMap(\.name)
        // A single value without a name belongs to the primary key (OData 4.01 Part 2, section 4.3.1).
        if !names.isEmpty, Set(names) != Set(type.keyParts.map(\.name)),
            let other = alternateKeys.first(where: { Set($0.parts.map(\.name)) == Set(names) })
        {
            return try predicate(parts, of: other.parts)
        }
        guard !type.keyParts.isEmpty else { throw URLSyntaxError(.invalidKey, "\(type.name) has no key.", in: text) }
        return try predicate(parts, of: type.keyParts)
    }

    private func predicate(
        _ parts: [WrittenKeyPart], of key: [KeyPart]
    ) throws(URLSyntaxError) -> KeyPredicate {
        if parts.count == 1, parts[0].name == nil {
            guard key.count == 1 else {
                throw URLSyntaxError(
                    .invalidKey, "The key of \(type.name) has \(key.count) properties, so its values must be named.",
                    in: text
                )
            }
            return KeyPredicate([(key[0], try value(parts[0], key[0]))])
        }
        var found: [String: Value] = [:]
        for written in parts {
            guard let name = written.name, let part = key.first(where: { $0.name == name }) else {
                throw URLSyntaxError(
                    .invalidKey, "\(written.name ?? "An unnamed value") is not part of the key of \(type.name).",
                    in: text, at: written.offset)
            }
            guard found[name] == nil else {
                throw URLSyntaxError(.invalidKey, "\(name) occurs twice.", in: text, at: written.offset)
            }
            found[name] = try value(written, part)
        }
        var values: [(part: KeyPart, value: Value)] = []
        for part in key {
            guard let value = found[part.name] else {
                throw URLSyntaxError(.invalidKey, "The key has no value for \(part.name).", in: text)
            }
            values.append((part, value))
        }
        return KeyPredicate(values)
    }

    private func value(_ written: WrittenKeyPart, _ part: KeyPart) throws(URLSyntaxError) -> Value {
        if written.value.hasPrefix("@"), !version.isLegacy {
            let name = written.value.dropFirst()
            guard let alias = aliases.first(where: { $0.name == name }), case .literal(let value, _) = alias.value
            else {
                throw URLSyntaxError(
                    .invalidKey, "The parameter alias @\(name) has no value.", in: text, at: written.offset)
            }
            return value
        }
        guard let value = readLiteral(written.value, as: part.type, version: version), value != .null,
            !isOpaque(value, part)
        else {
            throw URLSyntaxError(
                .invalidKey, "\(written.value) is not a value of type \(part.type.name).", in: text,
                at: written.offset)
        }
        return value
    }
}

/// Returns whether the value has a type that a V4 key must not have, if the model does not specify the type.
private func isOpaque(_ value: Value, _ part: KeyPart) -> Bool {
    guard part.type.primitive == .primitiveType || part.type.primitive == .untyped else { return false }
    switch value {
    case .binary, .raw: return true
    default: return false
    }
}

extension KeyPredicate {
    /// Creates a key from path segments (OData 4.01 Part 2, section 4.3.5), or returns nil if a value is invalid for
    /// its property.
    init?(segments: [String], of type: EntityType, version: ODataVersion) {
        guard type.keyParts.count == segments.count else { return nil }
        var values: [(part: KeyPart, value: Value)] = []
        for (part, segment) in zip(type.keyParts, segments) {
            if part.type.primitive == .string || part.type.primitive == .primitiveType {
                values.append((part, .string(segment)))
            } else if let value = readLiteral(segment, as: part.type, version: version) {
                values.append((part, value))
            } else {
                return nil
            }
        }
        self.init(values)
    }

    /// Returns the number of path segments of a key in the key-as-segment form.
    static func segmentCount(of type: EntityType) -> Int { type.keyParts.count }
}
