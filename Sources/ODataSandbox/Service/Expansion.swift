internal import EDM
internal import ODataQuery
internal import ODataWire

/// The expanded navigation properties, with their nested options.
struct Expansion {
    struct Item {
        var options: QueryOptions
        var nested: Expansion
    }

    private(set) var names: [String] = []
    private var items: [String: Item] = [:]

    init() {}

    subscript(name: String) -> Item? { items[name] }

    /// Creates the expansion of a deep insert's content, with which the service responds (OData 4.01 Part 1, 11.4.2.2).
    init(inlineOf body: RequestBody) {
        for inline in body.inline {
            var nested = Expansion()
            for child in inline.entities { nested.merge(Expansion(inlineOf: child)) }
            add(inline.navigation, Item(options: QueryOptions(), nested: nested))
        }
    }

    /// Creates the expansion from query options. V2 writes `Orders/Customer`, V4 `Orders($expand=Customer)`.
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

/// The selected properties of an entity. An empty selection includes all.
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

    /// Returns whether an expanded navigation property is included. In V2 a nonempty selection must contain it as well.
    func includesExpanded(_ navigation: String) -> Bool { names.isEmpty || names.contains(navigation) }

    /// Returns the set in the form of the context URL.
    func context(of set: String) -> String {
        names.isEmpty || hasStar ? set : set + "(" + names.sorted().joined(separator: ",") + ")"
    }

    func below(_ navigation: String) -> Selection { nested[navigation] ?? Selection() }
}
