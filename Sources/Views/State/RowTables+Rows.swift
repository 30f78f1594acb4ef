import EDM
package import Operations
package import SyncCore

/// Access to the rows.
extension RowTables {
    static let columns = TableLayout.ownColumns.joined(separator: ", ")

    func row(_ id: EntityID, in set: String) throws(StateError) -> EntityRow? {
        // The metadata may no longer have the set.
        guard layouts[set] != nil else { return nil }
        return try one(try table(set).select, { $0.id(id) }) { row throws(StateError) in
            try entityRow(row, set: set)
        }
    }

    /// Returns the entity in a row with ``columns``. It shares no memory with other rows.
    func entityRow(_ row: Row, set: String) throws(StateError) -> EntityRow {
        var page = PackedPage()
        return try entityRow(row, set: set, &page)
    }

    /// Returns the entity in a row with ``columns``. Its values are copied to the page.
    func entityRow(_ row: Row, set: String, _ page: inout PackedPage) throws(StateError) -> EntityRow {
        shapes.last.use(set, self)
        return try shapes.last.entity(row, only: nil, self, &page)
    }

    func putRow(_ row: EntityRow) throws(StateError) {
        let table = try table(row.set)
        table.invalidateLookups()
        guard let packed = row.values.packed(with: names) else { return try putWithNames(row, table) }
        let plan = try table.plan(packed.names) { names throws(StateError) in try number(of: names) }
        guard plan.shape != 0 else { return try putWithNames(row, table) }
        try packed.withUnsafeBytes { bytes throws(StateError) in
            try write(to: table) { binding in
                Self.bind(row, shape: plan.shape, &binding)
                binding.blob(inPlace: bytes)
                table.bind(bytes, by: plan, &binding)
            }
        }
    }

    /// Stores a row whose values cannot be packed, or whose names have no number. Both are rare.
    private func putWithNames(_ row: EntityRow, _ table: SetTable) throws(StateError) {
        try write(to: table) { binding in
            Self.bind(row, shape: 0, &binding)
            binding.blob(ValueCodec.encode(row.values))
            for value in table.layout.columnValues(row.values) { binding.value(value) }
        }
    }

    private func write(to table: SetTable, _ bind: (inout Binding) -> Void) throws(StateError) {
        try run(table.upsert, inPlace: true, bind)
        if connection.changedRows == 0 { try run(table.replace, inPlace: true, bind) }
    }

    /// Binds the columns before the values.
    static func bind(_ row: EntityRow, shape: Int64, _ binding: inout Binding) {
        binding.id(row.id)
        binding.integer(Int64(row.origin.rawValue))
        binding.integer(Int64(bitPattern: row.downloaded))
        binding.integer(shape)
        binding.text(row.type)
        binding.text(row.etag)
        binding.text(row.editLink)
    }

    func removeRow(_ id: EntityID, in set: String) throws(StateError) {
        guard layouts[set] != nil else { return }
        let table = try table(set)
        table.invalidateLookups()
        try run(table.delete) { $0.id(id) }
    }

    func findRows(
        set: String, where values: [(property: String, value: Value)], isWriting: Bool
    ) throws(StateError) -> [EntityID] {
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

    func mayHaveRows(
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
            guard let row = try row(id, in: set) else { continue }
            if values.allSatisfy({ row.values.value(at: $0.property) == $0.value }) { found.append(id) }
        }
        return found
    }

    func rows(set: String) throws(StateError) -> [EntityID] {
        try list("SELECT entity FROM \(try layout(set).table) ORDER BY entity") {
            $0.entity(0)
        }
    }

    /// Returns at most `limit` entities of a set after the given one, in ascending order of entity ID.
    package func rows(
        set: String, after last: EntityID, limit: Int
    ) throws(StateError) -> [EntityRow] {
        try list(
            "SELECT \(Self.columns) FROM \(try layout(set).table) WHERE entity > ? ORDER BY entity LIMIT ?",
            [SQLValue(last), .integer(Int64(limit))]
        ) { row throws(StateError) in try entityRow(row, set: set) }
    }

    /// Returns all entities of a set in ascending order of entity ID, in one pass.
    package func allRows(set: String) throws(StateError) -> [EntityRow] {
        try list("SELECT \(Self.columns) FROM \(try layout(set).table) ORDER BY entity") {
            row throws(StateError) in try entityRow(row, set: set)
        }
    }
}
