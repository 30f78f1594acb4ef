import EDM
import Operations

/// Entities by keys and names that the storage does not contain yet.
struct AssignedKeys {
    /// The keys by set. A page has few sets.
    private var sets: [(name: String, keys: [ExactText: EntityID])] = []

    subscript(set: String, key: String) -> EntityID? {
        get { sets.firstIndex { $0.name == set }.flatMap { sets[$0].keys[ExactText(key)] } }
        set {
            if let place = sets.firstIndex(where: { $0.name == set }) {
                sets[place].keys[ExactText(key)] = newValue
            } else if let newValue {
                sets.append((set, [ExactText(key): newValue]))
            }
        }
    }

    /// Reserves room for the keys of a set.
    mutating func reserveCapacity(_ count: Int, for set: String) {
        guard !sets.contains(where: { $0.name == set }) else { return }
        sets.append((set, Dictionary(minimumCapacity: count)))
    }

    /// All ends, in no particular order.
    var ends: [DanglingLinks.End] {
        sets.flatMap { set in set.keys.keys.map { DanglingLinks.End(set: set.name, key: $0.text) } }
    }
}
