package import EDM
package import Operations
package import SyncCore

extension SQLiteState {
    package func row(_ id: EntityID) throws(StateError) -> EntityRow? {
        guard let set = try set(of: id) else { return nil }
        return try rowTables.row(id, in: set)
    }

    package func putRow(_ row: EntityRow) throws(StateError) { try rowTables.putRow(row) }

    package func putRows(_ rows: [EntityRow]) throws(StateError) { try rowTables.putRows(rows) }

    package func removeRow(_ id: EntityID) throws(StateError) {
        if let set = try set(of: id) { try rowTables.removeRow(id, in: set) }
    }

    package func findRows(
        set: String, where values: [(property: String, value: Value)]
    ) throws(StateError) -> [EntityID] {
        try rowTables.findRows(set: set, where: values, isWriting: isWriting)
    }

    package func mayHaveRows(
        set: String, where property: String, in range: ClosedRange<Int64>
    ) throws(StateError) -> Bool {
        try rowTables.mayHaveRows(set: set, where: property, in: range)
    }

    package func rows(set: String) throws(StateError) -> [EntityID] { try rowTables.rows(set: set) }

    package func serviceEntities(_ ids: [EntityID]) throws(StateError) -> [ServiceEntity] {
        var found: [ServiceEntity] = []
        var sets: [String] = []
        var seen: Set<EntityID> = []
        found.reserveCapacity(ids.count)
        // The entities of a page usually are in order.
        let isAscending = ids.indices.dropFirst().allSatisfy { ids[$0 - 1] < ids[$0] }
        for id in ids where isAscending || seen.insert(id).inserted {
            guard let set = try set(of: id) else { continue }
            found.append(ServiceEntity(id: id, set: set, row: nil))
            if set != sets.last, !sets.contains(set) { sets.append(set) }
        }
        var order = Array(found.indices)
        if !isAscending { order.sort { found[$0].id < found[$1].id } }
        var hasBase = [Bool](repeating: false, count: found.count)
        try eachRow(of: order, in: found, Self.baseColumns, from: "bases") { row, place throws(StateError) in
            hasBase[place] = true
            if case .row(let row) = try base(row) { found[place].row = row }
        }
        // The row of any other entity is its base state. The rows share memory, because they are released together.
        var page = PackedPage()
        for set in sets where rowTables.layouts[set] != nil {
            let places = sets.count == 1 ? order : order.filter { found[$0].set == set }
            let table = try rowTables.layout(set).table
            try eachRow(of: places, in: found, RowTables.columns, from: table) { row, place throws(StateError) in
                guard !hasBase[place] else { return }
                let row = try rowTables.entityRow(row, set: set, &page)
                if row.origin != .local { found[place].row = row }
            }
        }
        return found
    }

    package func mayHaveKeyless(set: String) throws(StateError) -> Bool {
        let layout = try rowTables.layout(set)
        guard let keyless = layout.keyless else { return true }
        if try first("SELECT 1 FROM \(layout.table) WHERE \(keyless) LIMIT 1") != nil { return true }
        return try first("SELECT 1 FROM bases WHERE set_name = ? AND keyless = 1 LIMIT 1", [.text(set)]) != nil
    }

    // MARK: Identity and keys

    package func set(of id: EntityID) throws(StateError) -> String? {
        do throws(SQLiteError) { return try entities.set(of: id) } catch { throw StateError(error) }
    }

    package func firstUnusedEntity() throws(StateError) -> EntityID {
        let registered = try mapped { () throws(SQLiteError) in try entities.last() }
        let next = try connection.untraced { () throws(StateError) in try header().nextEntity }
        guard let registered, registered >= next else { return next }
        return EntityID(rawValue: registered.rawValue &+ 1)
    }

    package func register(_ id: EntityID, set: String) throws(StateError) {
        do throws(SQLiteError) { try entities.register(id, set: set) } catch { throw StateError(error) }
    }

    package func entity(set: String, key: String) throws(StateError) -> EntityID? {
        try storedKeys.entity(set: set, key: key)
    }

    package func entities(set: String, ascendingKeys keys: [String]) throws(StateError) -> [EntityID?] {
        try storedKeys.entities(set: set, keys)
    }

    package func mayHaveKeys(set: String, from first: String, through last: String) throws(StateError) -> Bool {
        try storedKeys.mayHaveKeys(set: set, from: first, through: last)
    }

    package func assignKey(set: String, key: String, to id: EntityID) throws(StateError) {
        try assign((try number(ofSet: set), key, id))
    }

    package func assignKeys(_ keys: [(set: String, key: String, entity: EntityID)]) throws(StateError) {
        var numbered: [NumberedKey] = []
        numbered.reserveCapacity(keys.count)
        for (set, key, id) in keys { numbered.append((try number(ofSet: set), key, id)) }
        try insert(numbered, by: statements.insertKeys) {
            $1.key($0)
        } orWriteEach: { item throws(StateError) in
            try assign(item)
        }
    }

    private func assign(_ item: NumberedKey) throws(StateError) { try run(statements.assignKey) { $0.key(item) } }

    private func number(ofSet set: String) throws(StateError) -> Int64 {
        try mapped { () throws(SQLiteError) in try sets.numbered(set) }
    }

    // MARK: Base states

    package func base(_ id: EntityID) throws(StateError) -> BaseState? {
        try one(statements.base, { $0.id(id) }) { row throws(StateError) in try base(row) }
    }

    static let baseColumns = RowTables.columns + ", set_name"

    func base(_ row: Row) throws(StateError) -> BaseState {
        guard let set = row.text(8) else { return .absent }
        return .row(try rowTables.entityRow(row, set: set))
    }

    package func saveBase(_ id: EntityID, _ base: BaseState) throws(StateError) {
        switch base {
        case .absent: try run(statements.putAbsentBase) { $0.id(id) }
        case .row(let row):
            let (shape, bytes) = try rowTables.stored(row.values)
            try run(statements.putBase) { binding in
                RowTables.bind(row, shape: shape, &binding)
                binding.blob(bytes)
                binding.text(row.set)
                binding.integer(hasKey(row) ? 0 : 1)
            }
        }
    }

    private func hasKey(_ row: EntityRow) -> Bool {
        model?.findEntityType(row.type).flatMap { KeyText.of(row.values, type: $0) } != nil
    }

    package func removeBase(_ id: EntityID) throws(StateError) {
        try run(statements.removeBase) { $0.id(id) }
    }

    package func drainBases(limit: Int) throws(StateError) -> [(EntityID, BaseState)] {
        let found = try list(
            "SELECT \(Self.baseColumns) FROM bases ORDER BY entity LIMIT ?", [.integer(Int64(limit))]
        ) { row throws(StateError) in (row.entity(0), try base(row)) }
        guard let last = found.last else { return [] }
        try run("DELETE FROM bases WHERE entity <= ?", [SQLValue(last.0)])
        return found
    }
}

/// A key with the number of its set.
private typealias NumberedKey = (set: Int64, key: String, entity: EntityID)

extension Binding {
    fileprivate mutating func key(_ item: NumberedKey) {
        integer(item.set)
        text(item.key)
        id(item.entity)
    }
}

extension StatementRunner {
    /// Calls `body` with each row of a table that belongs to an entity, and with the place of the entity.
    ///
    /// - Parameter order: The places of the entities, in ascending order of ID.
    fileprivate func eachRow(
        of order: [Int], in entities: [ServiceEntity], _ columns: String, from table: String,
        _ body: (Row, Int) throws(StateError) -> Void
    ) throws(StateError) {
        guard let first = order.first, let last = order.last else { return }
        let ends = (entities[first].id, entities[last].id)
        var (condition, values) = ("BETWEEN ? AND ?", [SQLValue(ends.0), SQLValue(ends.1)])
        // Rows that are few and far apart are searched, and rows close to each other are read in one pass. A range of
        // numbers with the sign bit would be empty.
        if ends.1.rawValue - ends.0.rawValue >= 2 * UInt64(order.count) || ends.1.rawValue > Int64.max {
            let list = order.map { String(entities[$0].id.rawValue) }.joined(separator: ",")
            (condition, values) = ("IN (SELECT value FROM json_each(?))", [.text("[" + list + "]")])
        }
        var next = order.startIndex
        try each("SELECT \(columns) FROM \(table) WHERE entity \(condition) ORDER BY entity", values) {
            row throws(StateError) in
            let id = row.entity(0)
            while next < order.endIndex, entities[order[next]].id < id { next += 1 }
            if next < order.endIndex, entities[order[next]].id == id { try body(row, order[next]) }
        }
    }
}
