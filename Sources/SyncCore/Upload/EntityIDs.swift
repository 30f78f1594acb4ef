import Operations

/// A small sorted set of entity IDs. Most operations concern one or two entities, for which hashing would cost more
/// than all lookups.
struct EntityIDs: Sendable, Hashable {
    private var ids: [EntityID] = []

    init() {}

    init(_ ids: some Sequence<EntityID>) {
        self.ids = ids.sorted()
        guard self.ids.count > 1, zip(self.ids, self.ids.dropFirst()).contains(where: { $0 == $1 }) else { return }
        self.ids = Set(self.ids).sorted()
    }

    func contains(_ id: EntityID) -> Bool {
        let place = place(of: id)
        return place < ids.count && ids[place] == id
    }

    mutating func insert(_ id: EntityID) {
        let place = place(of: id)
        if place == ids.count || ids[place] != id { ids.insert(id, at: place) }
    }

    mutating func formUnion(_ other: EntityIDs) {
        if ids.isEmpty {
            ids = other.ids
        } else if other.count <= 8 {
            for id in other.ids { insert(id) }
        } else {
            self = EntityIDs(ids + other.ids)
        }
    }

    mutating func formUnion(_ other: some Sequence<EntityID>) { formUnion(EntityIDs(other)) }

    mutating func subtract(_ other: EntityIDs) {
        guard !ids.isEmpty, !other.isEmpty else { return }
        ids.removeAll(where: other.contains)
    }

    func union(_ other: EntityIDs) -> EntityIDs {
        var union = self
        union.formUnion(other)
        return union
    }

    func subtracting(_ other: EntityIDs) -> EntityIDs {
        var rest = self
        rest.subtract(other)
        return rest
    }

    func isSubset(of other: EntityIDs) -> Bool { ids.allSatisfy(other.contains) }

    /// Returns the index of the ID, or its insertion index. O(log *n*).
    private func place(of id: EntityID) -> Int {
        guard let last = ids.last, id <= last else { return ids.count }
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension EntityIDs: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { ids.count }
    subscript(place: Int) -> EntityID { ids[place] }
}

extension EntityIDs: ExpressibleByArrayLiteral {
    init(arrayLiteral elements: EntityID...) { self.init(elements) }
}
