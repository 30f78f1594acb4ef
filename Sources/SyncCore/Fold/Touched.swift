public import Operations

/// What operations have changed since somebody last asked.
public struct Touched: Sendable, Hashable {
    /// Entities that were changed, created or deleted, or got or lost a link.
    public internal(set) var entities: Set<EntityID> = []
    /// Links that are gone.
    public internal(set) var unlinked: Set<LinkEnds> = []

    public struct LinkEnds: Sendable, Hashable {
        public let relationship: String
        public let first: EntityID
        public let second: EntityID
    }

    public init() {}

    mutating func add(_ later: Touched) {
        entities.formUnion(later.entities)
        unlinked.formUnion(later.unlinked)
    }
}
