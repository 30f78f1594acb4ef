import EDM
import ODataQuery
import Operations

/// A reference to an entity in the form that users write: `Customers('ALFKI')`, `Customers(~3)` or `~3`, with an
/// optional property. A readLink is a reference too: it may be percent-encoded, and a path before the set is ignored.
public struct EntityReference: Sendable, Hashable {
    /// The identification of the entity.
    enum Selector: Sendable, Hashable {
        case id(EntityID)
        /// A decoded key predicate with its parentheses. It is parsed when the metadata are known.
        case key(String)
    }

    /// The entity set, or nil if only the entity ID is given.
    public let set: String?
    let selector: Selector
    /// The property or navigation property after the slash.
    public let property: String?
    /// The original text.
    public let text: String

    /// Parses a reference. Returns nil if the text has none of the forms.
    public init?(_ text: String) {
        self.text = text
        let segments = Self.segments(of: text)
        guard let place = Self.entity(in: segments) else { return nil }
        let entity = segments[place].text
        let rest = segments[(place + 1)...]
        guard rest.allSatisfy({ !$0.text.isEmpty }) else { return nil }
        property = rest.first.map { String($0.text) }
        guard let open = entity.firstIndex(of: "(") else {
            guard let id = Self.id(entity) else { return nil }
            (set, selector) = (nil, .id(id))
            return
        }
        set = Self.decoded(entity[..<open])
        let inner = entity[entity.index(after: open)...].dropLast()
        selector = Self.id(inner).map(Selector.id) ?? .key(Self.decoded(entity[open...]))
    }

    /// Returns the decoded text, or the text itself if it is not encoded. Users may write an unencoded percent sign.
    private static func decoded(_ text: Substring) -> String {
        do throws(URLSyntaxError) { return try PercentCoding.decode(text) } catch { return String(text) }
    }

    /// Parses an ID such as `~3`.
    private static func id(_ text: Substring) -> EntityID? {
        guard text.first == "~", let number = UInt64(text.dropFirst()), number > 0 else { return nil }
        return EntityID(rawValue: number)
    }

    private struct Segment {
        var text: Substring
        /// The number of top-level pairs of parentheses.
        var pairs = 0
    }

    /// Returns the index of the segment with the entity, which at most a property follows. A service root may contain
    /// parentheses too (`https://host/(S(x))/service/`), so it is not necessarily the first segment with parentheses.
    private static func entity(in segments: [Segment]) -> Int? {
        if let first = segments.first, first.text.first == "~" { return segments.count <= 2 ? 0 : nil }
        return segments.indices.suffix(2).first { place in
            let segment = segments[place]
            return segment.pairs == 1 && segment.text.first != "(" && segment.text.last == ")"
        }
    }

    /// Splits the text at slashes outside parentheses, because keys may contain slashes. Empty if a parenthesis is not
    /// closed.
    private static func segments(of text: String) -> [Segment] {
        var segments: [Segment] = []
        var start = text.startIndex
        var (depth, pairs) = (0, 0)
        var isQuoted = false
        for index in text.indices {
            switch text[index] {
            case "'" where depth > 0: isQuoted.toggle()
            case "(" where !isQuoted: depth += 1
            case ")" where !isQuoted && depth > 0:
                depth -= 1
                if depth == 0 { pairs += 1 }
            case "/" where depth == 0:
                segments.append(Segment(text: text[start..<index], pairs: pairs))
                start = text.index(after: index)
                pairs = 0
            default: break
            }
        }
        return depth == 0 ? segments + [Segment(text: text[start...], pairs: pairs)] : []
    }
}
