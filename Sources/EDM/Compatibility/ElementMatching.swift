/// Pairs the elements of one parent before and after a change.
///
/// Elements with the same name are the same element. If exactly one overload of a name is unmatched on each side, the
/// two are one changed overload; with more, the correspondence is unknown.
struct ElementMatching {
    /// An element before, after, or both.
    struct Match {
        /// The element's name, followed by a number if another element of its space has the same name.
        let name: String
        let old: PositionedElement?
        let new: PositionedElement?
    }

    /// An element and its position among its siblings.
    struct PositionedElement {
        let element: ModelElement
        let position: Int
    }

    let matches: [Match]

    init(_ old: [ModelElement], _ new: [ModelElement]) {
        let old = Self.keyed(old)
        let new = Self.keyed(new)
        let oldByKey = Dictionary(uniqueKeysWithValues: old)
        let newByKey = Dictionary(uniqueKeysWithValues: new)
        let gone = Self.onlyOnes(old.filter { newByKey[$0.0] == nil })
        let fresh = Self.onlyOnes(new.filter { oldByKey[$0.0] == nil })

        var found: [(key: Key, old: PositionedElement?, new: PositionedElement?)] = []
        for (key, place) in old {
            let changed = newByKey[key] == nil && gone[key.family] != nil ? fresh[key.family]?.place : nil
            found.append((key, place, newByKey[key] ?? changed))
        }
        for (key, place) in new where oldByKey[key] == nil && (fresh[key.family] == nil || gone[key.family] == nil) {
            found.append((key, nil, place))
        }
        let names = Self.names(found.map(\.key))
        matches = found.map { Match(name: names[$0.key] ?? $0.key.name, old: $0.old, new: $0.new) }
    }

    // MARK: Keys

    private struct Key: Hashable {
        let space: ModelElement.Space
        let name: String
        let isUnbound: Bool
        /// The number of preceding elements with an equal key, which a defective document can contain.
        var repetition = 0
        let family: Family
    }

    private struct Family: Hashable {
        let space: ModelElement.Space
        /// The name; `nil` if the element cannot be overloaded.
        let name: String?
    }

    private static func keyed(_ elements: [ModelElement]) -> [(Key, PositionedElement)] {
        var seen: [Key: Int] = [:]
        return elements.enumerated().map { position, element in
            var key = Key(
                space: element.space, name: element.name, isUnbound: element.aspects[.bound] == "false",
                family: Family(space: element.space, name: element.family))
            let repetition = seen[key, default: 0]
            seen[key] = repetition + 1
            key.repetition = repetition
            return (key, PositionedElement(element: element, position: position))
        }
    }

    /// Returns the elements that are the only ones of their family.
    private static func onlyOnes(
        _ elements: [(Key, PositionedElement)]
    ) -> [Family: (key: Key, place: PositionedElement)] {
        let overloads = elements.filter { $0.0.family.name != nil }
        return Dictionary(grouping: overloads, by: \.0.family).filter { $0.value.count == 1 }.mapValues { $0[0] }
    }

    /// Returns the names of keys whose elements share a name. No name in a document contains a number sign.
    private static func names(_ keys: [Key]) -> [Key: String] {
        struct Name: Hashable {
            let space: ModelElement.Space
            let text: String
        }
        var result: [Key: String] = [:]
        let byName = Dictionary(grouping: keys) { Name(space: $0.space, text: $0.name) }
        for (name, keys) in byName where keys.count > 1 {
            let sorted = keys.sorted { ($0.isUnbound ? 1 : 0, $0.repetition) < ($1.isUnbound ? 1 : 0, $1.repetition) }
            for (number, key) in sorted.enumerated() where number > 0 { result[key] = "\(name.text)#\(number + 1)" }
        }
        return result
    }
}
