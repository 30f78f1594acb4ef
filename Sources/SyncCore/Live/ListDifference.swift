/// What leads from one list to another: the least that has to be taken out, put in and moved.
///
/// Items are told apart by an identity; one that is there several times is told apart by how often it was there before.
/// Pure.
public struct ListDifference<Identity: Hashable & Sendable>: Sendable, Hashable {
    /// An item that only one of the lists has, with its place there.
    public struct Item: Sendable, Hashable {
        public var identity: Identity
        public var index: Int
    }

    /// An item that both lists have, with its place in the old one and in the new one.
    public struct Pair: Sendable, Hashable {
        public var identity: Identity
        public var from: Int
        public var to: Int
    }

    /// In ascending order of the place in the old list.
    public private(set) var removed: [Item] = []
    /// In ascending order of the place in the new list.
    public private(set) var inserted: [Item] = []
    /// Items that changed their order among those that stay: as few as possible. What only moves up or down because others
    /// come or go is not here. In ascending order of the new place.
    public private(set) var moved: [Pair] = []
    /// Items that are not equal to what they were, moved or not. In ascending order of the new place.
    public private(set) var changed: [Pair] = []

    public init() {}

    public var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && moved.isEmpty && changed.isEmpty }

    /// Cost: n log n.
    public init<Element: Equatable>(from old: [Element], to new: [Element], identity: (Element) -> Identity) {
        let oldNames = Self.names(old, identity)
        let newNames = Self.names(new, identity)
        let newPlaces = Dictionary(uniqueKeysWithValues: newNames.enumerated().map { ($1, $0) })
        // The places in the new list of what stays, in the old order.
        var stays: [Pair] = []
        for (index, name) in oldNames.enumerated() {
            if let place = newPlaces[name] {
                stays.append(Pair(identity: name.identity, from: index, to: place))
            } else {
                removed.append(Item(identity: name.identity, index: index))
            }
        }
        let known = Set(stays.map(\.to))
        inserted = newNames.indices.filter { !known.contains($0) }.map {
            Item(identity: newNames[$0].identity, index: $0)
        }
        let ordered = Self.longestAscending(stays.map(\.to))
        moved = stays.indices.filter { !ordered.contains($0) }.map { stays[$0] }.sorted { $0.to < $1.to }
        changed = stays.filter { old[$0.from] != new[$0.to] }.sorted { $0.to < $1.to }
    }

    private struct Name: Hashable {
        let identity: Identity
        /// How many of that identity stand in front of it.
        let occurrence: Int
    }

    private static func names<Element>(_ list: [Element], _ identity: (Element) -> Identity) -> [Name] {
        var seen: [Identity: Int] = [:]
        return list.map { element in
            let identity = identity(element)
            defer { seen[identity, default: 0] += 1 }
            return Name(identity: identity, occurrence: seen[identity, default: 0])
        }
    }

    /// The positions of a longest ascending part of distinct numbers.
    private static func longestAscending(_ numbers: [Int]) -> Set<Int> {
        // The position of the smallest number that ends an ascending part of each length.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: numbers.count)
        for position in numbers.indices {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < numbers[position] { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[position] = ends[low - 1] }
            if low == ends.count { ends.append(position) } else { ends[low] = position }
        }
        var found: Set<Int> = []
        var position = ends.last ?? -1
        while position >= 0 {
            found.insert(position)
            position = previous[position]
        }
        return found
    }

    /// The new list, made of the old one: takes out what is removed or moved, puts in what is inserted or moved, in the order
    /// of the places, and puts the new item in the place of each that changed.
    ///
    /// - Parameters:
    ///   - old: the list that the difference starts from.
    ///   - item: the item at a place of the new list. Asked for what is inserted or changed only.
    public func applied<Element>(to old: [Element], item: (Int) -> Element) -> [Element] {
        let leaving = Set(removed.map(\.index) + moved.map(\.from))
        var list = old.indices.filter { !leaving.contains($0) }.map { old[$0] }
        let coming = inserted.map { ($0.index, item($0.index)) } + moved.map { ($0.to, old[$0.from]) }
        for (index, element) in coming.sorted(by: { $0.0 < $1.0 }) { list.insert(element, at: index) }
        for pair in changed { list[pair.to] = item(pair.to) }
        return list
    }
}
