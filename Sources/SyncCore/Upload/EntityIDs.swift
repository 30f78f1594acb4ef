import Operations

/// A small sorted set of entity IDs. Most operations concern one or two entities, for which hashing would cost more
/// than all lookups.
struct EntityIDs: Sendable, Hashable {
    private(set) var count = 0
    /// The smallest ID, or 0 if there is none. Most sets have no other, so that no array is allocated.
    private var smallest = EntityID(rawValue: 0)
    /// The other IDs in ascending order.
    private var others: [EntityID] = []

    init() {}

    init(_ ids: some Sequence<EntityID>) {
        var ids = ids.makeIterator()
        while count < 8, let id = ids.next() { insert(id) }
        guard let next = ids.next() else { return }
        // Sorted if there are many, because each insertion moves the larger ones.
        var rest = [next]
        while let id = ids.next() { rest.append(id) }
        for id in rest.sorted() { insert(id) }
    }

    func contains(_ id: EntityID) -> Bool {
        if isEmpty { return false }
        if id == smallest { return true }
        let place = place(of: id)
        return place < others.count && others[place] == id
    }

    mutating func insert(_ id: EntityID) {
        if isEmpty {
            smallest = id
        } else if id < smallest {
            others.insert(smallest, at: 0)
            smallest = id
        } else if id > smallest {
            let place = place(of: id)
            if place == others.count || others[place] != id { others.insert(id, at: place) }
        }
        count = others.count + 1
    }

    mutating func formUnion(_ other: EntityIDs) {
        if isEmpty {
            self = other
        } else if other.count <= 8 {
            for id in other { insert(id) }
        } else {
            self = EntityIDs(Array(self) + Array(other))
        }
    }

    mutating func formUnion(_ other: some Sequence<EntityID>) { formUnion(EntityIDs(other)) }

    mutating func subtract(_ other: EntityIDs) {
        guard !isEmpty, !other.isEmpty else { return }
        if !others.isEmpty { others.removeAll { other.contains($0) } }
        if other.contains(smallest) {
            guard !others.isEmpty else { return self = EntityIDs() }
            smallest = others.removeFirst()
        }
        count = others.count + 1
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

    func isSubset(of other: EntityIDs) -> Bool { allSatisfy(other.contains) }

    /// Returns the index of the ID in ``others``, or its insertion index. O(log *n*).
    private func place(of id: EntityID) -> Int {
        guard let last = others.last, id <= last else { return others.count }
        var (low, high) = (0, others.count)
        while low < high {
            let middle = (low + high) / 2
            if others[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension EntityIDs: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { count }
    subscript(place: Int) -> EntityID { place == 0 ? smallest : others[place - 1] }
}

extension EntityIDs: ExpressibleByArrayLiteral {
    init(arrayLiteral elements: EntityID...) { self.init(elements) }
}
