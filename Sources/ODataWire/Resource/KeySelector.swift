public import EDM

/// What stands in the parentheses behind an entity set or a collection.
public enum KeySelector: Sendable, Hashable {
    case key(KeyPredicate)
    /// `(~17)`: the store's own entity ID. Only the readLinks of a store have this form; no service knows it.
    case entityID(UInt64)
}

extension KeySelector {
    /// Reads a key predicate with its parentheses, percent-decoded: `(1)`, `(A=1,B='x')`, `(~17)`.
    ///
    /// V4 also reads parameter aliases; `aliases` holds what they stand for.
    public static func parse(
        _ text: String, of type: EntityType, version: ODataVersion, aliases: [QueryOptions.ParameterAlias] = []
    ) throws(URLSyntaxError) -> KeySelector {
        func invalid(_ message: String, at offset: Int = 0) -> URLSyntaxError {
            URLSyntaxError(.invalidKey, message, in: text, at: offset)
        }
        guard text.utf8.first == UInt8(ascii: "("), text.utf8.last == UInt8(ascii: ")"), text.utf8.count > 2 else {
            throw invalid("A key predicate in parentheses is expected.")
        }
        let content = text.dropFirst().dropLast()
        if content.utf8.first == UInt8(ascii: "~") {
            let digits = content.dropFirst()
            guard digits.utf8.allSatisfy(\.isDigit), let number = UInt64(digits) else {
                throw invalid("A tilde is followed by an entity ID, a decimal number.", at: 1)
            }
            return .entityID(number)
        }
        let parts = try KeyPart.split(content, in: text)
        return .key(try KeyPredicate(parts: parts, of: type, version: version, aliases: aliases, in: text))
    }
}

/// One value of a key predicate as text, with its name where it has one.
struct KeyPart {
    let name: String?
    let value: String
    let offset: Int

    /// Splits at commas outside of quotes.
    static func split(_ content: Substring, in text: String) throws(URLSyntaxError) -> [KeyPart] {
        let bytes = Array(content.utf8)
        var parts: [KeyPart] = []
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
                    KeyPart(name: name, value: String(decoding: bytes[begin..<index], as: UTF8.self), offset: begin + 1)
                )
                start = index + 1
                equals = nil
            }
            index += 1
        }
        return parts
    }
}

extension KeyPredicate {
    /// One of a key's properties, by the name that URLs use.
    private struct Slot {
        let name: String
        let property: Property?
    }

    init(
        parts: [KeyPart], of type: EntityType, version: ODataVersion, aliases: [QueryOptions.ParameterAlias],
        in text: String
    ) throws(URLSyntaxError) {
        let slots = Self.slots(of: type)
        guard !slots.isEmpty else { throw URLSyntaxError(.invalidKey, "\(type.name) has no key.", in: text) }
        if parts.count == 1, parts[0].name == nil {
            guard slots.count == 1 else {
                throw URLSyntaxError(
                    .invalidKey, "The key of \(type.name) has \(slots.count) properties, which must be named.", in: text
                )
            }
            let value = try Self.value(parts[0], slots[0], version, aliases, in: text)
            self.init([(slots[0].name, value)])
            return
        }
        var found: [String: Value] = [:]
        for part in parts {
            guard let name = part.name, let slot = slots.first(where: { $0.name == name }) else {
                throw URLSyntaxError(
                    .invalidKey, "\(part.name ?? "An unnamed value") is not part of the key of \(type.name).", in: text,
                    at: part.offset)
            }
            guard found[name] == nil else {
                throw URLSyntaxError(.invalidKey, "\(name) is given twice.", in: text, at: part.offset)
            }
            found[name] = try Self.value(part, slot, version, aliases, in: text)
        }
        var values: [(name: String, value: Value)] = []
        for slot in slots {
            guard let value = found[slot.name] else {
                throw URLSyntaxError(.invalidKey, "The key lacks \(slot.name).", in: text)
            }
            values.append((slot.name, value))
        }
        self.init(values)
    }

    /// Key properties behind a path go by their alias.
    private static func slots(of type: EntityType) -> [Slot] {
        guard !type.keyReferences.isEmpty else { return type.keyProperties.map { Slot(name: $0.name, property: $0) } }
        return type.keyReferences.map { Slot(name: $0.alias ?? $0.path, property: type.findProperty($0.path)) }
    }

    private static func value(
        _ part: KeyPart, _ slot: Slot, _ version: ODataVersion, _ aliases: [QueryOptions.ParameterAlias],
        in text: String
    ) throws(URLSyntaxError) -> Value {
        let type = slot.property?.type ?? TypeReference(.primitive(.primitiveType))
        if part.value.hasPrefix("@"), !version.isLegacy {
            let name = part.value.dropFirst()
            guard let alias = aliases.first(where: { $0.name == name }), case .literal(let value, _) = alias.value
            else {
                throw URLSyntaxError(.invalidKey, "No value is given for @\(name).", in: text, at: part.offset)
            }
            return value
        }
        guard let value = readLiteral(part.value, as: type, version: version), value != .null else {
            throw URLSyntaxError(
                .invalidKey, "\(part.value) is not a value of type \(type.name).", in: text, at: part.offset)
        }
        return value
    }

    /// The key whose values are path segments of their own (OData 4.01 Part 2, section 4.3.5), or nil if a value does
    /// not fit its property.
    init?(segments: [String], of type: EntityType, version: ODataVersion) {
        let slots = Self.slots(of: type)
        guard slots.count == segments.count else { return nil }
        var values: [(name: String, value: Value)] = []
        for (slot, segment) in zip(slots, segments) {
            let type = slot.property?.type ?? TypeReference(.primitive(.primitiveType))
            if type.primitive == .string || type.primitive == .primitiveType {
                values.append((slot.name, .string(segment)))
            } else if let value = readLiteral(segment, as: type, version: version) {
                values.append((slot.name, value))
            } else {
                return nil
            }
        }
        self.init(values)
    }

    /// How many path segments a key of the type takes in the key-as-segment form.
    static func segmentCount(of type: EntityType) -> Int { slots(of: type).count }
}
