public import EDM
public import Operations
public import SyncCore

extension SQLiteState {
    static let rowColumns = TableLayout.ownColumns.joined(separator: ", ")

    public func row(_ id: EntityID) throws(StateError) -> EntityRow? {
        // The metadata may no longer have the set.
        guard let set = try set(of: id), layouts[set] != nil else { return nil }
        let bind: (inout Binding) -> Void = { $0.id(id) }
        return try one(try table(set).select, bind) { row throws(StateError) in try entityRow(row, set: set) }
    }

    /// Returns the entity in a row with ``rowColumns``.
    func entityRow(_ row: Row, set: String) throws(StateError) -> EntityRow {
        guard let origin = EntityRow.Origin(rawValue: UInt8(truncatingIfNeeded: row.integer(1))),
            let type = row.text(4, names)
        else { throw StateError(.damaged, "The views contain an invalid row of \(set).") }
        return EntityRow(
            id: row.entity(0), set: set, type: type,
            values: try values(row, shape: 3, bytes: 7), etag: row.text(5), editLink: row.text(6), origin: origin,
            downloaded: row.unsigned(2))
    }

    public func putRow(_ row: EntityRow) throws(StateError) {
        let table = try table(row.set)
        table.invalidateLookups()
        guard let packed = row.values.packed(with: names) else { return try putWithNames(row, table) }
        let plan = try table.plan(packed.names) { names throws(StateError) in try number(of: names) }
        guard plan.shape != 0 else { return try putWithNames(row, table) }
        let outcome: Result<Void, StateError> = packed.bytes.withUnsafeBytes { bytes in
            do throws(StateError) {
                try run(table.upsert, inPlace: true) { binding in
                    Self.bind(row, shape: plan.shape, &binding)
                    binding.blob(inPlace: bytes)
                    table.bind(bytes, by: plan, &binding)
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try outcome.get()
    }

    /// Stores a row whose values cannot be packed, or whose names have no number. Both are rare.
    private func putWithNames(_ row: EntityRow, _ table: SetTable) throws(StateError) {
        try run(table.upsert, inPlace: true) { binding in
            Self.bind(row, shape: 0, &binding)
            binding.blob(ValueCodec.encode(row.values))
            for value in table.layout.columnValues(row.values) { binding.value(value) }
        }
    }

    /// Binds the columns before the values.
    private static func bind(_ row: EntityRow, shape: Int64, _ binding: inout Binding) {
        binding.id(row.id)
        binding.integer(Int64(row.origin.rawValue))
        binding.integer(Int64(bitPattern: row.downloaded))
        binding.integer(shape)
        binding.text(row.type)
        binding.text(row.etag)
        binding.text(row.editLink)
    }

    public func serviceEntities(_ ids: [EntityID]) throws(StateError) -> [ServiceEntity] {
        var found: [ServiceEntity] = []
        var places: [EntityID: Int] = [:]
        for id in ids where places[id] == nil {
            guard let set = try set(of: id) else { continue }
            places[id] = found.count
            found.append(ServiceEntity(id: id, set: set, row: nil))
        }
        // The entities without a saved base state, by set, with their index in `found`: the row is their base state.
        var plain = Dictionary(grouping: places.keys) { id in places[id].map { found[$0].set } ?? "" }
            .mapValues { ids in Dictionary(uniqueKeysWithValues: ids.map { ($0, places[$0] ?? 0) }) }
        try each(
            """
            SELECT \(Self.baseColumns) FROM bases WHERE entity IN (SELECT value FROM json_each(?))
            """, [Self.list(places.keys)]
        ) { row throws(StateError) in
            let id = row.entity(0)
            guard let place = places[id] else { return }
            plain[found[place].set]?[id] = nil
            if case .row(let row) = try base(row) { found[place].row = row }
        }
        for (set, places) in plain where layouts[set] != nil {
            try each(
                "SELECT \(Self.rowColumns) FROM \(try layout(set).table) WHERE entity IN (SELECT value FROM json_each(?))",
                [Self.list(places.keys)]
            ) { row throws(StateError) in
                let row = try entityRow(row, set: set)
                if row.origin != .local, let place = places[row.id] { found[place].row = row }
            }
        }
        return found
    }

    /// Returns a JSON array for `json_each`.
    private static func list(_ ids: some Sequence<EntityID>) -> SQLValue {
        .text("[" + ids.map { String($0.rawValue) }.joined(separator: ",") + "]")
    }

    public func removeRow(_ id: EntityID) throws(StateError) {
        guard let set = try set(of: id), layouts[set] != nil else { return }
        let table = try table(set)
        table.invalidateLookups()
        try run(table.delete) { $0.id(id) }
    }

    public func findRows(set: String, where values: [(property: String, value: Value)]) throws(StateError) -> [EntityID]
    {
        // NaN is equal to no value, although equal texts represent it in columns.
        if values.contains(where: { $0.value != $0.value }) { return [] }
        guard let find = try table(set).find(values) else { return try scan(set, where: values) }
        if isWriting, let known = find.found(values) { return known }
        let found = try list(find.statement, { for (_, value) in values { $0.value(SQLValue(value)) } }) {
            $0.entity(0)
        }
        if isWriting { find.remember(found, for: values) }
        return found
    }

    public func mayHaveKeyless(set: String) throws(StateError) -> Bool {
        let layout = try layout(set)
        guard let keyless = layout.keyless else { return true }
        if try first("SELECT 1 FROM \(layout.table) WHERE \(keyless) LIMIT 1") != nil { return true }
        return try first("SELECT 1 FROM bases WHERE set_name = ? AND keyless = 1 LIMIT 1", [.text(set)]) != nil
    }

    public func mayHaveRows(
        set: String, where property: String, in range: ClosedRange<Int64>
    ) throws(StateError) -> Bool {
        let layout = try layout(set)
        guard let column = layout.column([property])?.name else { return true }
        return try first(
            "SELECT 1 FROM \(layout.table) WHERE \(column) BETWEEN ? AND ? LIMIT 1",
            [.integer(range.lowerBound), .integer(range.upperBound)]) != nil
    }

    /// Searches by a property without a column, which is rare.
    private func scan(_ set: String, where values: [(property: String, value: Value)]) throws(StateError) -> [EntityID]
    {
        var found: [EntityID] = []
        for id in try rows(set: set) {
            guard let row = try row(id) else { continue }
            if values.allSatisfy({ row.values.value(at: $0.property) == $0.value }) { found.append(id) }
        }
        return found
    }

    public func rows(set: String) throws(StateError) -> [EntityID] {
        try list("SELECT entity FROM \(try layout(set).table) ORDER BY entity") {
            $0.entity(0)
        }
    }

    /// Returns at most `limit` entities of a set after the given one, in ascending order of entity ID.
    package func rows(
        set: String, behind last: EntityID, limit: Int
    ) throws(StateError) -> [EntityRow] {
        try list(
            "SELECT \(Self.rowColumns) FROM \(try layout(set).table) WHERE entity > ? ORDER BY entity LIMIT ?",
            [SQLValue(last), .integer(Int64(limit))]
        ) { row throws(StateError) in try entityRow(row, set: set) }
    }

    /// Returns all entities of a set in ascending order of entity ID, in one pass.
    package func allRows(set: String) throws(StateError) -> [EntityRow] {
        try list("SELECT \(Self.rowColumns) FROM \(try layout(set).table) ORDER BY entity") {
            row throws(StateError) in try entityRow(row, set: set)
        }
    }

    // MARK: Identity and keys

    public func set(of id: EntityID) throws(StateError) -> String? {
        do throws(SQLiteError) { return try entities.set(of: id) } catch { throw StateError(error) }
    }

    public func firstUnusedEntity() throws(StateError) -> EntityID {
        let registered = try mapped { () throws(SQLiteError) in try entities.last() }
        let next = try connection.untraced { () throws(StateError) in try header().nextEntity }
        guard let registered, registered >= next else { return next }
        return EntityID(rawValue: registered.rawValue &+ 1)
    }

    public func register(_ id: EntityID, set: String) throws(StateError) {
        do throws(SQLiteError) { try entities.register(id, set: set) } catch { throw StateError(error) }
    }

    public func entity(set: String, key: String) throws(StateError) -> EntityID? {
        guard let number = try mapped({ () throws(SQLiteError) in try sets.number(of: set) }) else { return nil }
        return try firstInteger(statements.entityOfKey) { binding in
            binding.integer(number)
            binding.text(key)
        }.map { EntityID(rawValue: UInt64(bitPattern: $0)) }
    }

    public func assignKey(set: String, key: String, to id: EntityID) throws(StateError) {
        let number = try mapped { () throws(SQLiteError) in try sets.numbered(set) }
        try run(statements.assignKey) { binding in
            binding.integer(number)
            binding.text(key)
            binding.id(id)
        }
    }

    // MARK: Base states

    public func base(_ id: EntityID) throws(StateError) -> BaseState? {
        try one(statements.base, { $0.id(id) }) { row throws(StateError) in try base(row) }
    }

    static let baseColumns = rowColumns + ", set_name"

    func base(_ row: Row) throws(StateError) -> BaseState {
        guard let set = row.text(8) else { return .absent }
        return .row(try entityRow(row, set: set))
    }

    public func saveBase(_ id: EntityID, _ base: BaseState) throws(StateError) {
        switch base {
        case .absent: try run(statements.putAbsentBase) { $0.id(id) }
        case .row(let row):
            let (shape, bytes) = try stored(row.values)
            try run(statements.putBase) { binding in
                Self.bind(row, shape: shape, &binding)
                binding.blob(bytes)
                binding.text(row.set)
                binding.integer(hasKey(row) ? 0 : 1)
            }
        }
    }

    private func hasKey(_ row: EntityRow) -> Bool {
        model?.findEntityType(row.type).flatMap { KeyText.of(row.values, type: $0) } != nil
    }

    public func removeBase(_ id: EntityID) throws(StateError) {
        try run(statements.removeBase) { $0.id(id) }
    }

    public func drainBases(limit: Int) throws(StateError) -> [(EntityID, BaseState)] {
        let ids = try list("SELECT entity FROM bases ORDER BY entity LIMIT ?", [.integer(Int64(limit))]) {
            $0.entity(0)
        }
        guard let last = ids.last else { return [] }
        var found: [(EntityID, BaseState)] = []
        for id in ids { if let base = try base(id) { found.append((id, base)) } }
        try run("DELETE FROM bases WHERE entity <= ?", [SQLValue(last)])
        return found
    }
}
