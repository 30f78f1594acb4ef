package import Operations

/// The dirty set: the changes by operations since the last check.
package struct DirtySet: Sendable, Equatable {
    /// Entities that were changed, created or deleted, or gained or lost a link.
    package internal(set) var entities: EntityIDSet = []
    /// Removed links.
    package internal(set) var unlinked: Set<LinkEnds> = []

    package struct LinkEnds: Sendable, Hashable {
        package let relationship: String
        package let first: EntityID
        package let second: EntityID
    }

    package init() {}

    mutating func add(_ later: DirtySet) {
        entities.formUnion(later.entities)
        unlinked.formUnion(later.unlinked)
    }
}
