import EDM
import Operations

/// The rows of a working set: all rows of a state, or those that differ from the backing.
struct RowTable {
    private(set) var table = IDTable<EntityRow>()
    /// The entities whose row in the backing is removed.
    private(set) var removed: Set<EntityID> = []
    /// The indexes by set, for the properties by which rows were searched.
    private var indexes: [String: [RowIndex]] = [:]

    enum Found {
        case row(EntityRow)
        case removed
        /// The row is unchanged from the storage below.
        case below
    }

    /// All rows, in no particular order.
    var rows: [EntityRow] { table.values }
    var entities: some Collection<EntityID> { table.entities }
    var isEmpty: Bool { table.isEmpty && removed.isEmpty }
    var count: Int { table.count + removed.count }

    func find(_ id: EntityID) -> Found {
        if let place = table.place(of: id) { return .row(table[at: place]) }
        return isRemoved(id) ? .removed : .below
    }

    /// Returns the set and type of an entity whose row is in the table.
    func kind(of id: EntityID) -> EntityKind? {
        guard let place = table.place(of: id) else { return nil }
        return table[at: place].kind
    }

    /// Returns whether the row in the backing is removed.
    func isRemoved(_ id: EntityID) -> Bool { !removed.isEmpty && removed.contains(id) }

    func contains(_ id: EntityID) -> Bool { table.contains(id) || removed.contains(id) }

    /// Stores a row. Returns the former one.
    @discardableResult
    mutating func put(_ row: EntityRow) -> EntityRow? {
        if !removed.isEmpty { removed.remove(row.id) }
        let old = table.updateValue(row, for: row.id)
        if !indexes.isEmpty { updateIndexes(of: row.set) { $0.replace(old, by: row) } }
        return old
    }

    /// Removes a row. Returns the former one.
    ///
    /// - Parameter hidesBelow: Whether the backing may contain the row.
    @discardableResult
    mutating func remove(_ id: EntityID, hidesBelow: Bool) -> EntityRow? {
        let old = table.removeValue(for: id)
        if hidesBelow { removed.insert(id) }
        if let old, !indexes.isEmpty { updateIndexes(of: old.set) { $0.remove(old) } }
        return old
    }

    /// Restores the place of an entity to the former result of ``find(_:)``.
    mutating func restore(_ id: EntityID, to former: Found) {
        switch former {
        case .row(let row): put(row)
        case .removed: remove(id, hidesBelow: true)
        case .below:
            remove(id, hidesBelow: false)
            removed.remove(id)
        }
    }

    /// Removes and returns the rows of sets that are not among the given ones.
    mutating func retain(_ sets: Set<String>) -> [EntityRow] {
        let gone = rows.filter { !sets.contains($0.set) }
        for row in gone { table.removeValue(for: row.id) }
        indexes = [:]
        return gone
    }

    /// Removes all rows. Keeps the definitions of the indexes.
    mutating func removeAll() {
        table.removeAll()
        removed.removeAll()
        var set = indexes.startIndex
        while set < indexes.endIndex {
            for place in indexes.values[set].indices { indexes.values[set][place].removeAll() }
            indexes.formIndex(after: &set)
        }
    }

    /// Updates the indexes of a set that are built. The set of an entity never changes.
    private mutating func updateIndexes(of name: String, _ body: (inout RowIndex) -> Void) {
        guard let set = indexes.index(forKey: name) else { return }
        for place in indexes.values[set].indices where indexes.values[set][place].isBuilt {
            body(&indexes.values[set][place])
        }
    }

    /// Returns the rows of a set whose properties have all these values, in ascending order.
    mutating func find(set: String, where values: [(property: String, value: Value)]) -> [EntityID] {
        guard !table.isEmpty else { return [] }
        return indexes[set, default: []].find(values, among: table.values, of: set)
    }
}

extension [RowIndex] {
    /// Returns the rows of a set with these values, in ascending order. Adds an index for new properties.
    fileprivate mutating func find(
        _ values: [(property: String, value: Value)], among rows: [EntityRow], of set: String
    ) -> [EntityID] {
        // By index, because a closure copies each element.
        var place = 0
        while place < count, !self[place].isAbout(values) { place += 1 }
        if place == count { append(RowIndex(values.map(\.property))) }
        if !self[place].isBuilt { self[place].build(rows.lazy.filter { $0.set == set }) }
        return self[place].find(values)
    }
}

extension RowTable {
    /// Calls `body` with each row, ordered by set and entity.
    func forEachInOrder<Failure: Error>(_ body: (EntityRow) throws(Failure) -> Void) throws(Failure) {
        let rows = rows
        let order = rows.indices.sorted {
            rows[$0].set == rows[$1].set ? rows[$0].id < rows[$1].id : precedesInBytes(rows[$0].set, rows[$1].set)
        }
        for place in order { try body(rows[place]) }
    }

    /// Writes the rows in the order of the backing's tables, so that each page of the backing is written once.
    func write(to backing: any StateBacking) throws(StateError) {
        for id in removed.sorted() { try backing.removeRow(id) }
        try forEachInOrder { row throws(StateError) in try backing.putRow(row) }
    }
}
