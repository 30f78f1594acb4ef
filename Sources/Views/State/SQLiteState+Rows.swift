public import EDM
public import Operations
public import SyncCore

extension SQLiteState {
    static let rowColumns = TableLayout.ownColumns.joined(separator: ", ")

    public func row(_ id: EntityID) throws(StateError) -> EntityRow? {
        // The metadata may have the set no longer.
        guard let set = try set(of: id), layouts[set] != nil else { return nil }
        let bind: (inout Binding) -> Void = { $0.id(id) }
        return try one(try table(set).select, bind) { row throws(StateError) in try entityRow(row, set: set) }
    }

    /// From ``rowColumns``.
    func entityRow(_ row: Row, set: String) throws(StateError) -> EntityRow {
        guard let origin = EntityRow.Origin(rawValue: UInt8(truncatingIfNeeded: row.integer(1))),
            let type = row.text(4, names)
        else { throw StateError(.damaged, "The views hold a row of \(set) that makes no sense.") }
        return EntityRow(
            id: EntityID(rawValue: UInt64(bitPattern: row.integer(0))), set: set, type: type,
            values: try values(row, shape: 3, bytes: 7), etag: row.text(5), editLink: row.text(6), origin: origin,
            downloaded: UInt64(bitPattern: row.integer(2)))
    }

    public func putRow(_ row: EntityRow) throws(StateError) {
        let table = try table(row.set)
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

    /// For the rare values that cannot be packed, or whose names have no number.
    private func putWithNames(_ row: EntityRow, _ table: SetTable) throws(StateError) {
        try run(table.upsert, inPlace: true) { binding in
            Self.bind(row, shape: 0, &binding)
            binding.blob(ValueCodec.encode(row.values))
            for value in table.layout.columnValues(row.values) { binding.value(value) }
        }
    }

    /// All that is in front of the values.
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
        // By set: where those stand that have no base, and so are what the service said.
        var plain: [String: [EntityID: Int]] = [:]
        try each(
            """
            SELECT entities.id, bases.origin, bases.downloaded, bases.shape, bases.type, bases.etag, bases.edit_link,
            bases.property_values, bases.set_name, bases.entity, entities.set_name
            FROM json_each(?) AS wanted CROSS JOIN entities ON entities.id = wanted.value
            LEFT JOIN bases ON bases.entity = entities.id
            """, [Self.list(ids)]
        ) { row throws(StateError) in
            let id = EntityID(rawValue: UInt64(bitPattern: row.integer(0)))
            var entity = ServiceEntity(id: id, set: row.text(10) ?? "", row: nil)
            if row.isNull(9) {
                plain[entity.set, default: [:]][id] = found.count
            } else if let set = row.text(8) {
                entity.row = try entityRow(row, set: set)
            }
            found.append(entity)
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

    /// For `json_each`.
    private static func list(_ ids: some Sequence<EntityID>) -> SQLValue {
        .text("[" + ids.map { String($0.rawValue) }.joined(separator: ",") + "]")
    }

    public func removeRow(_ id: EntityID) throws(StateError) {
        guard let set = try set(of: id), layouts[set] != nil else { return }
        try run(try table(set).delete) { $0.id(id) }
    }

    public func findRows(set: String, where values: [(property: String, value: Value)]) throws(StateError) -> [EntityID]
    {
        guard let statement = try table(set).find(values.map(\.property)) else { return try scan(set, where: values) }
        return try list(statement, { for (_, value) in values { $0.value(SQLValue(value)) } }) {
            EntityID(rawValue: UInt64(bitPattern: $0.integer(0)))
        }
    }

    public func mayHaveKeyless(set: String) throws(StateError) -> Bool {
        let layout = try layout(set)
        guard let keyless = layout.keyless else { return true }
        if try first("SELECT 1 FROM \(layout.table) WHERE \(keyless) LIMIT 1") != nil { return true }
        return try first("SELECT 1 FROM bases WHERE set_name = ? AND keyless = 1 LIMIT 1", [.text(set)]) != nil
    }

    /// For the rare property that has no column.
    private func scan(_ set: String, where values: [(property: String, value: Value)]) throws(StateError) -> [EntityID]
    {
        var found: [EntityID] = []
        for id in try rows(set: set) {
            guard let row = try row(id) else { continue }
            if values.allSatisfy({ row.values[$0.property] == $0.value }) { found.append(id) }
        }
        return found
    }

    public func rows(set: String) throws(StateError) -> [EntityID] {
        try list("SELECT entity FROM \(try layout(set).table) ORDER BY entity") {
            EntityID(rawValue: UInt64(bitPattern: $0.integer(0)))
        }
    }

    /// All entities of a set in ascending order of entity ID, in one pass.
    package func allRows(set: String) throws(StateError) -> [EntityRow] {
        try list("SELECT \(Self.rowColumns) FROM \(try layout(set).table) ORDER BY entity") {
            row throws(StateError) in try entityRow(row, set: set)
        }
    }

    // MARK: Identity and keys

    public func set(of id: EntityID) throws(StateError) -> String? {
        if let set = sets[id] { return set }
        guard
            let set = try one(statements.setOf, { $0.id(id) }, { $0.text(0) ?? "" })
        else { return nil }
        remember(set, of: id)
        return set
    }

    private func remember(_ set: String, of id: EntityID) {
        if sets.count >= Self.setLimit { sets.removeAll(keepingCapacity: true) }
        sets[id] = set
    }

    private static var setLimit: Int { 16_384 }

    public func register(_ id: EntityID, set: String) throws(StateError) {
        guard sets[id] == nil else { return }
        try run(statements.register) { binding in
            binding.id(id)
            binding.text(set)
        }
        if connection.changes == 1 { remember(set, of: id) }
    }

    public func entity(set: String, key: String) throws(StateError) -> EntityID? {
        try firstInteger(statements.entityOfKey) { binding in
            binding.text(set)
            binding.text(key)
        }.map { EntityID(rawValue: UInt64(bitPattern: $0)) }
    }

    public func assignKey(set: String, key: String, to id: EntityID) throws(StateError) {
        try run(statements.assignKey) { binding in
            binding.text(set)
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
        case .absent: try run("INSERT OR REPLACE INTO bases (entity) VALUES (?)", [integer(id)])
        case .row(let row):
            let (shape, bytes) = try stored(row.values)
            try run(
                "INSERT OR REPLACE INTO bases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    integer(id), .integer(Int64(row.origin.rawValue)), integer(row.downloaded), .integer(shape),
                    .text(row.type), row.etag.map(SQLValue.text) ?? .null, row.editLink.map(SQLValue.text) ?? .null,
                    .blob(bytes), .text(row.set), .integer(hasKey(row) ? 0 : 1),
                ])
        }
    }

    private func hasKey(_ row: EntityRow) -> Bool {
        model?.findEntityType(row.type).flatMap { KeyText.of(row.values, type: $0) } != nil
    }

    public func removeBase(_ id: EntityID) throws(StateError) {
        try run("DELETE FROM bases WHERE entity = ?", [integer(id)])
    }

    public func takeBases() throws(StateError) -> [(EntityID, BaseState)] {
        let ids = try list("SELECT entity FROM bases ORDER BY entity") {
            EntityID(rawValue: UInt64(bitPattern: $0.integer(0)))
        }
        var found: [(EntityID, BaseState)] = []
        for id in ids { if let base = try base(id) { found.append((id, base)) } }
        try run("DELETE FROM bases")
        return found
    }
}

extension Binding {
    mutating func id(_ id: EntityID) { integer(Int64(bitPattern: id.rawValue)) }
}
