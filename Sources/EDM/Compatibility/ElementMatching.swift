/// Which elements of one parent are the same element before and after.
///
/// The same name makes the same element. Of the overloads of one name whose signatures match no other, one on either side
/// is one overload that changed; of more than that nobody can say which became which.
struct ElementMatching {
    /// An element with a name that no other of its space has, also where the document repeats one.
    struct Named {
        let name: String
        let element: ModelElement
    }

    private(set) var common: [(old: Named, new: Named)] = []
    private(set) var added: [Named] = []
    private(set) var removed: [Named] = []

    private struct Key: Hashable {
        let space: ModelElement.Space
        let name: String
    }

    init(_ old: [ModelElement], _ new: [ModelElement]) {
        let old = Self.keyed(old)
        let new = Self.keyed(new)
        let oldByKey = Dictionary(uniqueKeysWithValues: old)
        let newKeys = Set(new.map(\.0))
        let goneFamilies = Self.families(old.filter { !newKeys.contains($0.0) }.map(\.1))
        let newFamilies = Self.families(new.filter { oldByKey[$0.0] == nil }.map(\.1))

        for (key, named) in new {
            if let same = oldByKey[key] ?? Self.changed(named, goneFamilies, newFamilies) {
                common.append((same, named))
            } else {
                added.append(named)
            }
        }
        removed = old.compactMap { key, named in
            newKeys.contains(key) || Self.changed(named, newFamilies, goneFamilies) != nil ? nil : named
        }
    }

    private static func keyed(_ elements: [ModelElement]) -> [(Key, Named)] {
        var seen: [Key: Int] = [:]
        return elements.map { element in
            let count = seen[Key(space: element.space, name: element.name), default: 0] + 1
            seen[Key(space: element.space, name: element.name)] = count
            // No name in a document has a number sign.
            let name = count == 1 ? element.name : "\(element.name)#\(count)"
            return (Key(space: element.space, name: name), Named(name: name, element: element))
        }
    }

    private static func families(_ elements: [Named]) -> [Key: [Named]] {
        elements.reduce(into: [:]) { result, named in
            guard let family = named.element.family else { return }
            result[Key(space: named.element.space, name: family), default: []].append(named)
        }
    }

    /// The one overload on the other side that `named`, the only one on its own, became or was.
    private static func changed(_ named: Named, _ others: [Key: [Named]], _ own: [Key: [Named]]) -> Named? {
        guard let family = named.element.family else { return nil }
        let key = Key(space: named.element.space, name: family)
        guard own[key]?.count == 1, let candidates = others[key], candidates.count == 1 else { return nil }
        return candidates[0]
    }
}
