import EDM
import ODataWire
import Operations

/// An entity as people name it: `Customers('ALFKI')`, `Customers(~3)` or `~3`, and what of it is meant. A readLink is one as
/// well: percent-encoded, and with a path in front of the set, which is passed over.
public struct EntityReference: Sendable, Hashable {
    /// How the entity is told from others.
    enum Selector: Sendable, Hashable {
        case id(EntityID)
        /// A key predicate with its parentheses, not percent-encoded; read when the metadata are known.
        case key(String)
    }

    /// Nil where the entity ID stands alone.
    public let set: String?
    let selector: Selector
    /// A property or navigation property: what stands behind the slash.
    public let property: String?
    /// As it was written.
    public let text: String

    /// Nil where the text has none of the forms.
    public init?(_ text: String) {
        self.text = text
        guard let end = Self.end(of: text) else { return nil }
        let rest = text[end...]
        guard rest.isEmpty || (rest.first == "/" && rest.count > 1 && !rest.dropFirst().contains("/")) else {
            return nil
        }
        property = rest.isEmpty ? nil : String(rest.dropFirst())
        let entity = text[..<end]
        guard let open = entity.firstIndex(of: "(") else {
            guard let id = Self.id(entity) else { return nil }
            (set, selector) = (nil, .id(id))
            return
        }
        let path = entity[..<open]
        set = Self.decoded(path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path)
        let inner = entity[entity.index(after: open)...].dropLast()
        selector = Self.id(inner).map(Selector.id) ?? .key(Self.decoded(entity[open...]))
    }

    /// As it is where it is not encoded: people write a percent sign as such.
    private static func decoded(_ text: Substring) -> String {
        do throws(URLSyntaxError) { return try PercentCoding.decode(text) } catch { return String(text) }
    }

    /// `~3`
    private static func id(_ text: Substring) -> EntityID? {
        guard text.first == "~", let number = UInt64(text.dropFirst()), number > 0 else { return nil }
        return EntityID(rawValue: number)
    }

    /// Behind the entity: behind the parenthesis that closes its key, which stands in no quotes, or in front of the slash.
    private static func end(of text: String) -> String.Index? {
        guard text.first != "~" else { return text.firstIndex(of: "/") ?? text.endIndex }
        guard let open = text.firstIndex(of: "("), open > text.startIndex else { return nil }
        var isQuoted = false
        for index in text[open...].indices {
            if text[index] == "'" { isQuoted.toggle() }
            if text[index] == ")", !isQuoted { return text.index(after: index) }
        }
        return nil
    }
}
