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

    /// As it is where it is not encoded: people write a percent sign as such.
    private static func decoded(_ text: Substring) -> String {
        do throws(URLSyntaxError) { return try PercentCoding.decode(text) } catch { return String(text) }
    }

    /// `~3`
    private static func id(_ text: Substring) -> EntityID? {
        guard text.first == "~", let number = UInt64(text.dropFirst()), number > 0 else { return nil }
        return EntityID(rawValue: number)
    }

    private struct Segment {
        var text: Substring
        /// How many pairs of parentheses it has, those in others not counted.
        var pairs = 0
    }

    /// The segment with the entity, behind which there is a property at most. A service root may have parentheses as well
    /// (`https://host/(S(x))/service/`), so that the first segment that has some need not be it.
    private static func entity(in segments: [Segment]) -> Int? {
        if let first = segments.first, first.text.first == "~" { return segments.count <= 2 ? 0 : nil }
        return segments.indices.suffix(2).first { place in
            let segment = segments[place]
            return segment.pairs == 1 && segment.text.first != "(" && segment.text.last == ")"
        }
    }

    /// What slashes separate that stand in no parentheses: keys may have some. None where one of these is not closed.
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
