public import Operations

/// A set of entity IDs with a fast hash function.
public struct EntityIDSet: Sendable {
    private var table = IDTable<Void>()

    /// Creates an empty set.
    public init() {}

    /// The number of entities.
    public var count: Int { table.count }
    /// A Boolean value that indicates whether the set contains no entity.
    public var isEmpty: Bool { table.isEmpty }

    /// Returns whether the set contains the entity.
    public func contains(_ id: EntityID) -> Bool { table.contains(id) }

    /// The entities in ascending order.
    public func sorted() -> [EntityID] { table.entities.sorted() }

    mutating func insert(_ id: EntityID) { _ = table.place(of: id, inserting: ()) }

    mutating func formUnion(_ other: EntityIDSet) { for id in other.table.entities { insert(id) } }

    /// The entities as a set of the standard library.
    var asSet: Set<EntityID> { Set(table.entities) }
}

extension EntityIDSet: Equatable {
    public static func == (a: EntityIDSet, b: EntityIDSet) -> Bool {
        a.count == b.count && a.table.entities.allSatisfy(b.contains)
    }
}

extension EntityIDSet: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: EntityID...) {
        self.init()
        for id in elements { insert(id) }
    }
}
