/// The normal form of a query whose result can be a shared feed.
///
/// Two URLs with the same normal form are the same request for a service: percent-encoding is normalized, and options
/// are sorted by name. Only queries of a whole collection have a normal form; all other URLs pass through the gateway.
package struct CanonicalQuery: Sendable, Hashable, CustomStringConvertible {
    /// A query option, decoded. A literal `+` is kept apart from an encoded one, because services differ about it.
    struct Option: Sendable, Hashable {
        let name: String
        let value: String
    }

    /// The name of the entity set, decoded.
    package let set: String
    let options: [Option]

    /// The options that a feed cannot have: their results are no collections of entities, they are the service's own
    /// tokens, or they ask for an order, which rows in versions do not have.
    private static let excluded: Set<String> = [
        "$count", "$inlinecount", "$apply", "$compute", "$skiptoken", "$deltatoken", "!deltatoken", "$id", "$orderby",
    ]

    /// Returns the normal form of a URL relative to the service root, or `nil` if it has none.
    package init?(_ text: String) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts.first, !text.contains("#"), let set = FeedURL.decoded(path), !set.isEmpty,
            !set.utf8.contains(where: { "/($&=;,'\\\u{0}".utf8.contains($0) })
        else { return nil }
        var options: [Option] = []
        let pieces = parts.count > 1 ? parts[1].split(separator: "&") : []
        for piece in pieces {
            guard let option = Self.option(piece) else { return nil }
            if option.name == "$format" {
                guard option.value == "json" || option.value == "application/json" else { return nil }
                continue
            }
            guard !Self.excluded.contains(option.name), !options.contains(where: { $0.name == option.name }) else {
                return nil
            }
            options.append(option)
        }
        self.set = set
        self.options = options.sorted { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }
    }

    static let placeholder = CanonicalQuery(set: "", options: [])

    private init(set: String, options: [Option]) {
        self.set = set
        self.options = options
    }

    private static func option(_ text: Substring) -> Option? {
        guard let equals = text.firstIndex(of: "="), let name = FeedURL.decoded(text[..<equals]), !name.isEmpty,
            let value = FeedURL.decoded(text[text.index(after: equals)...])
        else { return nil }
        return Option(name: name, value: value)
    }

    /// The URL relative to the service root.
    package var description: String {
        let path = FeedURL.encoded(set)
        let list = options.map { "\(FeedURL.encoded($0.name))=\(FeedURL.encoded($0.value))" }
        return list.isEmpty ? path : "\(path)?\(list.joined(separator: "&"))"
    }

    // MARK: Related requests

    /// The query for one row, which shows whether a user may read the feed.
    package var probe: String { setting("$top", "1").description }

    /// Whether the presence of a row depends only on the row itself, so that it can be checked by a request for the row.
    var isSelective: Bool {
        !options.contains { option in
            !["$filter", "$select", "$expand"].contains(option.name) && !option.name.hasPrefix("sap-")
        }
    }

    /// Returns the URL that shows whether the row with a key is in the result: the entity itself, or a query for it if
    /// the result is filtered.
    ///
    /// - Parameters:
    ///   - key: A key predicate with its parentheses, percent-encoded.
    ///   - names: The names of the key properties, for a predicate without names.
    /// - Returns: `nil` if no request for the row alone can show it.
    package func check(key: String, names: [String]) -> (url: String, isEntity: Bool)? {
        guard isSelective else { return nil }
        guard let filter = options.first(where: { $0.name == "$filter" })?.value else {
            let custom = CanonicalQuery(set: set, options: options.filter { !$0.name.hasPrefix("$") })
            let query = custom.description.drop { $0 != "?" }
            return (FeedURL.encoded(set) + key + query, true)
        }
        guard let condition = Self.condition(key, names) else { return nil }
        return (setting("$filter", "(\(filter)) and (\(condition))").description, false)
    }

    /// Returns the expression that is true for the entity with the key.
    private static func condition(_ key: String, _ names: [String]) -> String? {
        guard key.hasPrefix("("), key.hasSuffix(")"), let inner = FeedURL.decoded(key.dropFirst().dropLast()) else {
            return nil
        }
        let parts = FeedURL.split(inner)
        if names.count == 1, parts.count == 1 { return "\(names[0]) eq \(parts[0])" }
        let pairs = parts.map { part -> String? in
            guard let equals = part.firstIndex(of: "=") else { return nil }
            return "\(part[..<equals]) eq \(part[part.index(after: equals)...])"
        }
        guard !pairs.isEmpty, pairs.allSatisfy({ $0 != nil }) else { return nil }
        return pairs.compactMap(\.self).joined(separator: " and ")
    }

    private func setting(_ name: String, _ value: String) -> CanonicalQuery {
        let kept = options.filter { $0.name != name } + [Option(name: name, value: value)]
        return CanonicalQuery(
            set: set,
            options: kept.sorted { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) })
    }
}

/// Percent-encoding for the normal form.
enum FeedURL {
    /// The marker of a literal `+` in decoded text: a code point that URLs cannot contain.
    private static let plus: [UInt8] = [0xF4, 0x8F, 0xBF, 0xBF]

    /// Returns the decoded text, or `nil` if an escape is malformed or the bytes are not UTF-8.
    static func decoded(_ text: some StringProtocol) -> String? {
        var result: [UInt8] = []
        var bytes = Array(text.utf8)[...]
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = bytes.popFirst()?.hexadecimalValue, let low = bytes.popFirst()?.hexadecimalValue,
                    high << 4 | low >= 0x20
                else { return nil }
                result.append(high << 4 | low)
            case UInt8(ascii: "+"): result += plus
            case 0x21...0x7E: result.append(byte)
            default: return nil
            }
        }
        return String(validating: result, as: UTF8.self)
    }

    static func encoded(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\u{10FFFF}": result += "+"
            case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~", "$", "'", "(", ")", "*", ",", ":", "@", "/", "!":
                result.unicodeScalars.append(scalar)
            default:
                for byte in String(scalar).utf8 {
                    let digits = String(byte, radix: 16, uppercase: true)
                    result += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
                }
            }
        }
        return result
    }

    /// Splits at the commas outside of string literals.
    static func split(_ text: String) -> [Substring] {
        var isInString = false
        return text.split(omittingEmptySubsequences: false) { character in
            if character == "'" { isInString.toggle() }
            return character == "," && !isInString
        }
    }
}
