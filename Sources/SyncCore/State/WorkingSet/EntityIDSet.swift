package import Operations

/// A set of entity IDs with a fast hash function.
package struct EntityIDSet: Sendable {
    private var table = IDTable<Void>()

    /// Creates an empty set.
    package init() {}

    /// The number of entities.
    package var count: Int { table.count }
    /// A Boolean value that indicates whether the set contains no entity.
    package var isEmpty: Bool { table.isEmpty }

    /// Returns whether the set contains the entity.
    package func contains(_ id: EntityID) -> Bool { table.contains(id) }

    /// The entities in ascending order.
    package func sorted() -> [EntityID] { table.entities.sorted() }

    mutating func insert(_ id: EntityID) { table.insert(id.rawValue) }

    mutating func formUnion(_ other: EntityIDSet) { for id in other.table.entities { insert(id) } }

    /// The entities in any order.
    var entities: some Collection<EntityID> { table.entities }
}

extension EntityIDSet: Equatable {
    package static func == (a: EntityIDSet, b: EntityIDSet) -> Bool {
        a.count == b.count && a.table.entities.allSatisfy(b.contains)
    }
}

extension EntityIDSet: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: EntityID...) {
        self.init()
        for id in elements { insert(id) }
    }
}
