import EDM
import Operations

/// The rows of a working set: all rows of a state, or those that differ from the backing.
struct RowTable {
    private(set) var table = IDTable<EntityRow>()
    /// The entities whose row in the backing is removed.
    private(set) var removed: Set<EntityID> = []
    private var indexes = RowIndexes()

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

    /// Returns the kind and the values of an entity whose row is in the table.
    func content(of id: EntityID) -> EntityContent? {
        table.place(of: id).map { EntityContent(kind: table[at: $0].kind, values: table[at: $0].values) }
    }

    /// Returns the kind of an entity whose row is in the table.
    func kind(of id: EntityID) -> EntityKind? { table.place(of: id).map { table[at: $0].kind } }

    /// Returns the origin of a row in the table, and whether it has an ETag.
    func version(of id: EntityID) -> (origin: EntityRow.Origin, hasETag: Bool)? {
        table.place(of: id).map { (table[at: $0].origin, table[at: $0].hasETag) }
    }

    /// Returns whether the row in the backing is removed.
    func isRemoved(_ id: EntityID) -> Bool { !removed.isEmpty && removed.contains(id) }

    func contains(_ id: EntityID) -> Bool { table.contains(id) || removed.contains(id) }

    /// Stores a row. Returns the former one.
    @discardableResult
    mutating func put(_ row: EntityRow) -> EntityRow? {
        if !removed.isEmpty { removed.remove(row.id) }
        let old = table.updateValue(row, for: row.id)
        indexes.update(row.set) { $0.replace(old, by: row) }
        return old
    }

    /// Removes a row. Returns the former one.
    ///
    /// - Parameter hidesBelow: Whether the backing may contain the row.
    @discardableResult
    mutating func remove(_ id: EntityID, hidesBelow: Bool) -> EntityRow? {
        let old = table.removeValue(for: id)
        if hidesBelow { removed.insert(id) }
        if let old { indexes.update(old.set) { $0.remove(old) } }
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
        indexes = RowIndexes()
        return gone
    }

    /// Removes all rows. Keeps the definitions of the indexes.
    mutating func removeAll() {
        table.removeAll()
        removed.removeAll()
        indexes.removeRows()
    }

    /// Returns the rows of a set whose properties have all these values, in ascending order.
    mutating func find(set: String, where values: [(property: String, value: Value)]) -> [EntityID] {
        table.isEmpty ? [] : indexes.find(values, among: table.values, of: set)
    }
}

/// The indexes for the properties by which rows were searched.
private struct RowIndexes {
    private struct SetIndex {
        let set: String
        var index: RowIndex
    }

    /// The indexes of all sets. A list, because few sets are searched, and by few properties.
    private var all: [SetIndex] = []

    // By index, because a loop over the elements and a closure copy each.

    /// Returns the rows of a set with these values, in ascending order. Adds an index for new properties.
    mutating func find(
        _ values: [(property: String, value: Value)], among rows: [EntityRow], of set: String
    ) -> [EntityID] {
        var place = 0
        while place < all.count, !(all[place].set.isExactly(set) && Self.are(all[place].index.properties, of: values)) {
            place += 1
        }
        if place == all.count { all.append(SetIndex(set: set, index: RowIndex(values.map(\.property)))) }
        if !all[place].index.isBuilt { all[place].index.build(rows.lazy.filter { $0.set.isExactly(set) }) }
        return all[place].index.find(values)
    }

    /// Returns whether these are the properties of the values, in this order.
    private static func are(_ properties: [String], of values: [(property: String, value: Value)]) -> Bool {
        properties.count == values.count && properties.indices.allSatisfy { properties[$0] == values[$0].property }
    }

    /// Updates the indexes of a set that are built. The set of an entity never changes.
    mutating func update(_ set: String, _ body: (inout RowIndex) -> Void) {
        for place in all.indices where all[place].index.isBuilt && all[place].set.isExactly(set) {
            body(&all[place].index)
        }
    }

    /// Removes all rows, and keeps the definitions.
    mutating func removeRows() { for place in all.indices { all[place].index.removeAll() } }
}

extension RowTable {
    /// The indexes of the rows, ordered by set and entity; nil if the rows have this order.
    private var order: [Int]? {
        // A subscript of the array would copy each row. The span of an array needs macOS 26.
        let slice = rows[...]
        let rows = slice.span
        var addresses: [(set: String, id: EntityID)] = []
        addresses.reserveCapacity(rows.count)
        // The usual rows of one set were created one after the other.
        var areInOrder = true
        for place in rows.indices {
            let address = (set: rows[place].set, id: rows[place].id)
            if let last = addresses.last, !Self.areInOrder(last, address) { areInOrder = false }
            addresses.append(address)
        }
        return areInOrder ? nil : addresses.indices.sorted { Self.areInOrder(addresses[$0], addresses[$1]) }
    }

    private static func areInOrder(_ a: (set: String, id: EntityID), _ b: (set: String, id: EntityID)) -> Bool {
        a.set.isExactly(b.set) ? a.id < b.id : precedesInBytes(a.set, b.set)
    }

    /// Calls `body` with each row, ordered by set and entity.
    func forEachInOrder<Failure: Error>(_ body: (borrowing EntityRow) throws(Failure) -> Void) throws(Failure) {
        let slice = rows[...]
        let rows = slice.span
        if let order {
            for place in order { try body(rows[place]) }
        } else {
            for place in rows.indices { try body(rows[place]) }
        }
    }

    /// Writes the rows in the order of the backing's tables, so that each page of the backing is written once.
    func write(to backing: any StateBacking) throws(StateError) {
        for id in removed.sorted() { try backing.removeRow(id) }
        if table.isEmpty { return }
        let rows = rows
        try backing.putRows(order.map { $0.map { rows[$0] } } ?? rows)
    }
}
