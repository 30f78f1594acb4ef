import EDM
import Operations

/// The items of a state that have changed since the tracking started.
struct DirtyItems {
    struct Key: Hashable {
        let set: String
        let key: String

        static func == (a: Key, b: Key) -> Bool { a.set.isExactly(b.set) && a.key.isExactly(b.key) }
    }

    struct LinkEnds: Hashable {
        let relationship: String
        let first: EntityID
        let second: EntityID

        /// Hashes only the entities, because two entities rarely have links of several relationships.
        func hash(into hasher: inout Hasher) {
            hasher.combine(first)
            hasher.combine(second)
        }
    }

    var entities = EntityIDSet()
    var keys: Set<Key> = []
    var rows = EntityIDSet()
    var bases = EntityIDSet()
    var links: Set<LinkEnds> = []
    var pending = IDTable<Void>()
    var undone = IDTable<Void>()
    var batches: Set<BatchID> = []
    var mergeBases = EntityIDSet()
    var streams = EntityIDSet()
    var coverage = EntityIDSet()
    var hasQueries = false
    var hasEvents = false
    var hasOpenLinks = false
    var hasQuarantine = false
    /// Whether a model was installed. Rows may have been dropped with their sets, and the tables differ.
    var hasModel = false
}
