public import Operations

/// The dirty set: the changes by operations since the last check.
public struct DirtySet: Sendable, Equatable {
    /// Entities that were changed, created or deleted, or gained or lost a link.
    public internal(set) var entities: EntityIDSet = []
    /// Removed links.
    public internal(set) var unlinked: Set<LinkEnds> = []

    public struct LinkEnds: Sendable, Hashable {
        public let relationship: String
        public let first: EntityID
        public let second: EntityID
    }

    public init() {}

    mutating func add(_ later: DirtySet) {
        entities.formUnion(later.entities)
        unlinked.formUnion(later.unlinked)
    }
}
