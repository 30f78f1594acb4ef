import EDM
import Operations
import SyncCore

/// Reads the key map.
struct StoredKeys: StatementRunner {
    let connection: Connection
    private let sets: InternedNames
    private let entityOfKey = Statement("SELECT entity FROM keys WHERE set_number = ? AND key = ?")
    private let keysInRange = Statement(
        "SELECT key, entity FROM keys WHERE set_number = ? AND key BETWEEN ? AND ? ORDER BY key LIMIT ?")
    private let anyKey = Statement("SELECT 1 FROM keys WHERE set_number = ? AND key BETWEEN ? AND ? LIMIT 1")

    init(_ connection: Connection, _ sets: InternedNames) {
        self.connection = connection
        self.sets = sets
    }

    private func number(of set: String) throws(StateError) -> Int64? {
        try mapped { () throws(SQLiteError) in try sets.number(of: set) }
    }

    /// Returns the entity to which the key was last assigned.
    func entity(set: String, key: String) throws(StateError) -> EntityID? {
        guard let number = try number(of: set) else { return nil }
        return try firstInteger(entityOfKey) { binding in
            binding.integer(number)
            binding.text(key)
        }.map { EntityID(rawValue: UInt64(bitPattern: $0)) }
    }

    /// Returns the entities to which the keys were last assigned.
    ///
    /// - Parameter keys: The keys in the order of their bytes.
    func entities(set: String, _ keys: [String]) throws(StateError) -> [EntityID?] {
        var owners = [EntityID?](repeating: nil, count: keys.count)
        guard let first = keys.first, let last = keys.last, let number = try number(of: set) else { return owners }
        // One pass over the range costs a fifth of separate lookups, unless the range has many further keys.
        let limit = keys.count + keys.count / 2
        var (next, count) = (0, 0)
        try mapped { () throws(SQLiteError) in
            try connection.eachRow(keysInRange) { binding in
                binding.integer(number)
                binding.text(first)
                binding.text(last)
                binding.integer(Int64(limit))
            } _: { row in
                count += 1
                let owner = EntityID(rawValue: UInt64(bitPattern: row.integer(1)))
                let start = next
                while next < keys.count, row.hasText(0, keys[next]) == true {
                    owners[next] = owner
                    next += 1
                }
                guard next == start, let text = row.text(0) else { return }
                // The keys before this one are not assigned.
                while next < keys.count, !precedesInBytes(text, keys[next]) {
                    if keys[next].isExactly(text) { owners[next] = owner }
                    next += 1
                }
            }
        }
        guard count == limit else { return owners }
        for place in next..<keys.count { owners[place] = try entity(set: set, key: keys[place]) }
        return owners
    }

    /// Returns whether keys in a range, in the order of their bytes, are assigned.
    func mayHaveKeys(set: String, from first: String, through last: String) throws(StateError) -> Bool {
        guard let number = try number(of: set) else { return false }
        return try firstInteger(anyKey) { binding in
            binding.integer(number)
            binding.text(first)
            binding.text(last)
        } != nil
    }
}
