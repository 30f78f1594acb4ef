/// The minimal removals, insertions and moves between two lists.
///
/// Items are matched by an identity; repeated identities are matched by their occurrence. The computation is pure.
public struct ListDifference<Identity: Hashable & Sendable>: Sendable, Hashable {
    /// An item of only one of the lists, with its index there.
    public struct Item: Sendable, Hashable {
        /// The identity of the item.
        public var identity: Identity
        /// The index in the list that has the item, from 0.
        public var index: Int
    }

    /// An item of both lists, with its index in each.
    public struct Pair: Sendable, Hashable {
        /// The identity of the item.
        public var identity: Identity
        /// The index in the old list, from 0.
        public var from: Int
        /// The index in the new list, from 0.
        public var to: Int
    }

    /// Removed items, in ascending order of the index in the old list.
    public private(set) var removed: [Item] = []
    /// Inserted items, in ascending order of the index in the new list.
    public private(set) var inserted: [Item] = []
    /// Items that changed their order relative to the other remaining items, as few as possible. Items whose index
    /// changes only because of insertions or removals are not included. In ascending order of the new index.
    public private(set) var moved: [Pair] = []
    /// Items that are not equal to their old versions, moved or not. In ascending order of the new index.
    public private(set) var changed: [Pair] = []

    /// Creates the difference of equal lists.
    public init() {}

    /// A Boolean value that indicates whether the lists are equal.
    public var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && moved.isEmpty && changed.isEmpty }

    /// Computes the difference between two lists.
    ///
    /// - Complexity: O(*n* log *n*).
    public init<Element: Equatable>(from old: [Element], to new: [Element], identity: (Element) -> Identity) {
        let oldNames = Self.names(old, identity)
        let newNames = Self.names(new, identity)
        let newPlaces = Dictionary(uniqueKeysWithValues: newNames.enumerated().map { ($1, $0) })
        // The new indexes of the remaining items, in the old order.
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

    /// Returns the same difference with other identities. Items with the identity nil are omitted.
    package func mapIdentities<Other>(_ transform: (Identity) -> Other?) -> ListDifference<Other> {
        func item(_ item: Item) -> ListDifference<Other>.Item? {
            transform(item.identity).map { ListDifference<Other>.Item(identity: $0, index: item.index) }
        }
        func pair(_ pair: Pair) -> ListDifference<Other>.Pair? {
            transform(pair.identity).map { ListDifference<Other>.Pair(identity: $0, from: pair.from, to: pair.to) }
        }
        var other = ListDifference<Other>()
        other.removed = removed.compactMap(item)
        other.inserted = inserted.compactMap(item)
        other.moved = moved.compactMap(pair)
        other.changed = changed.compactMap(pair)
        return other
    }

    private struct Name: Hashable {
        let identity: Identity
        /// The number of earlier items with the same identity.
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

    /// Returns the positions of a longest ascending subsequence of distinct numbers.
    private static func longestAscending(_ numbers: [Int]) -> Set<Int> {
        // The position of the smallest number that ends an ascending subsequence of each length.
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

    /// Returns the new list, made from the old one: removes the removed and moved items, inserts the inserted and moved
    /// ones in ascending order, and replaces the changed ones.
    ///
    /// - Parameters:
    ///   - old: The list that the difference starts from.
    ///   - item: Returns the item at an index of the new list. Called for inserted and changed items only.
    public func applied<Element>(to old: [Element], item: (Int) -> Element) -> [Element] {
        let leaving = Set(removed.map(\.index) + moved.map(\.from))
        var list = old.indices.filter { !leaving.contains($0) }.map { old[$0] }
        let coming = inserted.map { ($0.index, item($0.index)) } + moved.map { ($0.to, old[$0.from]) }
        for (index, element) in coming.sorted(by: { $0.0 < $1.0 }) { list.insert(element, at: index) }
        for pair in changed { list[pair.to] = item(pair.to) }
        return list
    }
}
