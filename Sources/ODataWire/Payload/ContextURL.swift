internal import ODataQuery

/// The fragment of a context URL (OData 4.01, part 1, section 10).
///
/// Only the parts that items of a page need are interpreted. No text is an error.
struct ContextURL: Equatable {
    enum ItemKind { case entity, deletedEntity, link, deletedLink, other }

    var kind = ItemKind.other
    /// The entity set, or the path of a contained collection such as `Orders(1)/Items`, without type cast and select
    /// list.
    var set: String?
    /// The type in a cast or in the context itself.
    var type: String?
    /// The names along ``set``, without keys.
    var names: [String] = []

    init?(_ text: String) {
        guard let hash = text.firstIndex(of: "#") else { return nil }
        let written = text[text.index(after: hash)...]
        let fragment = (try? PercentCoding.decode(written)) ?? String(written)
        var segments = Self.segments(fragment)
        while let last = segments.last, last.hasPrefix("$") {
            if kind == .other { kind = Self.kind(last) }
            segments.removeLast()
        }
        if let last = segments.last {
            if segments.count == 1, last.hasPrefix("Collection("), last.hasSuffix(")") {
                type = String(last.dropFirst(11).dropLast())
                segments.removeLast()
            } else if Self.name(last).contains(".") {
                type = Self.name(last)
                segments.removeLast()
            }
        }
        guard let last = segments.popLast(), !last.isEmpty else { return }
        // Parentheses after the last name contain selected properties; after other names they contain keys.
        set = (segments + [Self.name(last)]).joined(separator: "/")
        names = (segments + [last]).map(Self.name)
    }

    private static func kind(_ segment: String) -> ItemKind {
        switch segment {
        case "$entity": .entity
        case "$deletedEntity": .deletedEntity
        case "$link": .link
        case "$deletedLink": .deletedLink
        default: .other
        }
    }

    private static func name(_ segment: String) -> String { String(segment.prefix { $0 != "(" }) }

    /// Splits at slashes outside of parentheses and quotes.
    private static func segments(_ fragment: String) -> [String] {
        var segments: [String] = []
        var segment = ""
        var depth = 0
        var isQuoted = false
        for character in fragment {
            switch character {
            case "'": isQuoted.toggle()
            case "(" where !isQuoted: depth += 1
            case ")" where !isQuoted: depth -= 1
            case "/" where !isQuoted && depth <= 0:
                segments.append(segment)
                segment = ""
                continue
            default: break
            }
            segment.append(character)
        }
        return segments + [segment]
    }
}
