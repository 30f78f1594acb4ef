internal import EDM
internal import ODataWire

/// Which navigation properties come with an entity, and what of their entities.
struct Expansion {
    struct Item {
        var options: QueryOptions
        var nested: Expansion
    }

    private(set) var names: [String] = []
    private var items: [String: Item] = [:]

    init() {}

    subscript(name: String) -> Item? { items[name] }

    /// What a deep insert has brought is answered expanded (OData 4.01 Part 1, 11.4.2.2).
    init(inlineOf body: RequestBody) {
        for inline in body.inline {
            var nested = Expansion()
            for child in inline.entities { nested.merge(Expansion(inlineOf: child)) }
            add(inline.navigation, Item(options: QueryOptions(), nested: nested))
        }
    }

    /// V2 writes `Orders/Customer`, V4 `Orders($expand=Customer)`.
    init(_ items: [ExpandItem]) {
        for item in items {
            var names = item.path.compactMap { segment in
                if case .name(let name) = segment { name } else { nil }
            }
            guard let last = names.popLast() else { continue }
            var expansion = Expansion()
            expansion.add(last, Item(options: item.options, nested: Expansion(item.options.expand)))
            for name in names.reversed() {
                var outer = Expansion()
                outer.add(name, Item(options: QueryOptions(), nested: expansion))
                expansion = outer
            }
            merge(expansion)
        }
    }

    private mutating func add(_ name: String, _ item: Item) {
        if items[name] == nil {
            names.append(name)
            items[name] = item
        } else {
            items[name]?.nested.merge(item.nested)
        }
    }

    private mutating func merge(_ other: Expansion) {
        for name in other.names { if let item = other[name] { add(name, item) } }
    }
}

/// Which properties of an entity are asked for. Nothing asked is everything.
struct Selection {
    private(set) var names: Set<String> = []
    private var nested: [String: Selection] = [:]
    private var hasStar = false

    init(_ items: [SelectItem] = []) {
        for item in items { add(item.path[...]) }
    }

    private mutating func add(_ path: ArraySlice<SelectSegment>) {
        switch path.first {
        case .name(let name):
            names.insert(name)
            if path.count > 1 { nested[name, default: Selection()].add(path.dropFirst()) }
        case .star: hasStar = true
        default: break
        }
    }

    func includes(_ property: String) -> Bool { hasStar || names.isEmpty || names.contains(property) }

    /// V2: an expanded navigation property has to be selected as well, where anything is.
    func includesExpanded(_ navigation: String) -> Bool { names.isEmpty || names.contains(navigation) }

    /// What the context URL calls the set.
    func context(of set: String) -> String {
        names.isEmpty || hasStar ? set : set + "(" + names.sorted().joined(separator: ",") + ")"
    }

    func below(_ navigation: String) -> Selection { nested[navigation] ?? Selection() }
}
