import EDM
import Operations

/// An index of the rows of a set by the values of some properties.
///
/// The index is built by the first search, so that rows which no search follows are not indexed.
struct RowIndex {
    /// The names of properties, or paths such as `Address/Street`.
    let properties: [String]
    private var rows: [Key: SmallSet<EntityID>] = [:]
    /// The rows whose only property is an integer, as most keys are. Integers are searched without hashing a value.
    private var numbered = IDTable<SmallSet<EntityID>>()
    /// Whether ``rows`` contains the rows of the set.
    private(set) var isBuilt = false
    /// Whether a name is a path.
    private let hasPaths: Bool

    /// Almost all keys have one property.
    private enum Key: Hashable {
        case one(Value)
        case several([Value])
    }

    init(_ properties: [String]) {
        self.properties = properties
        hasPaths = properties.contains { $0.utf8.contains(UInt8(ascii: "/")) }
    }

    /// Adds all rows of the set to an index that is not built.
    mutating func build(_ all: some Sequence<EntityRow>) {
        isBuilt = true
        for row in all { replace(nil, by: row) }
    }

    /// Returns the rows with these values of the properties, in ascending order.
    ///
    /// Mutating, because a call of another function on an index in an array copies it.
    mutating func find(_ values: [(property: String, value: Value)]) -> [EntityID] {
        if values.count == 1, case .integer(let number) = values[0].value {
            return numbered.place(of: UInt64(bitPattern: number)).map { numbered[at: $0].sorted } ?? []
        }
        if rows.isEmpty { return [] }
        let key: Key = values.count == 1 ? .one(values[0].value) : .several(values.map(\.value))
        return rows[key]?.sorted ?? []
    }

    /// Updates an index that is built.
    mutating func replace(_ old: EntityRow?, by new: EntityRow) {
        let after = key(new.values)
        // Not the row, because a constant for it is a copy.
        if let id = old?.id, let values = old?.values {
            let before = key(values)
            if id == new.id, before == after { return }
            remove(id, before)
        }
        switch after {
        case .one(.integer(let number))?:
            let place = numbered.place(of: UInt64(bitPattern: number), inserting: SmallSet())
            numbered[at: place].insert(new.id)
        case let after?: rows[after, default: SmallSet()].insert(new.id)
        case nil: break
        }
    }

    /// Removes a row from an index that is built.
    mutating func remove(_ row: EntityRow) { remove(row.id, key(row.values)) }

    private mutating func remove(_ id: EntityID, _ key: Key?) {
        switch key {
        case .one(.integer(let number))?:
            guard let place = numbered.place(of: UInt64(bitPattern: number)) else { return }
            numbered[at: place].remove(id)
            if numbered[at: place].isEmpty { numbered.removeValue(for: UInt64(bitPattern: number)) }
        case let key?:
            rows[key]?.remove(id)
            if rows[key]?.isEmpty == true { rows[key] = nil }
        case nil: break
        }
    }

    /// Removes all rows. The next search builds the index again.
    mutating func removeAll() {
        isBuilt = false
        if !rows.isEmpty { rows.removeAll(keepingCapacity: rows.count <= 1 << 14) }
        numbered.removeAll()
    }

    /// Returns the key of a row with these values, or nil if it lacks one of the properties.
    private func key(_ row: PropertyValues) -> Key? {
        if properties.count == 1 { return value(of: row, at: properties[0]).map(Key.one) }
        var values: [Value] = []
        for property in properties {
            guard let value = value(of: row, at: property) else { return nil }
            values.append(value)
        }
        return .several(values)
    }

    private func value(of row: PropertyValues, at property: String) -> Value? {
        hasPaths ? row.value(at: property) : row[property]
    }
}
