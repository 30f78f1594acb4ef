import EDM
import Operations

/// The rows of a set by the values of some properties.
struct RowIndex {
    /// Names of properties, or paths such as `Address/Street`.
    let properties: [String]
    private var rows: [[Value]: SmallSet<EntityID>] = [:]

    init(_ properties: [String], _ all: some Sequence<EntityRow>) {
        self.properties = properties
        for row in all { add(row) }
    }

    /// In ascending order.
    subscript(values: [Value]) -> [EntityID] { rows[values]?.elements.sorted() ?? [] }

    mutating func replace(_ old: EntityRow?, by new: EntityRow?) {
        if let old, let new, properties.allSatisfy({ old.values.value(at: $0) == new.values.value(at: $0) }) { return }
        let (before, after) = (old.flatMap(key), new.flatMap(key))
        if let old, let before {
            rows[before]?.remove(old.id)
            if rows[before]?.isEmpty == true { rows[before] = nil }
        }
        if let new, let after { rows[after, default: SmallSet()].insert(new.id) }
    }

    private mutating func add(_ row: EntityRow) {
        if let key = key(row) { rows[key, default: SmallSet()].insert(row.id) }
    }

    /// Nil where the row has not all of them.
    private func key(_ row: EntityRow) -> [Value]? {
        var key: [Value] = []
        for property in properties {
            guard let value = row.values.value(at: property) else { return nil }
            key.append(value)
        }
        return key
    }
}
