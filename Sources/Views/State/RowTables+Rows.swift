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

    /// Stores rows of different entities, ordered by set and entity. Those after the last one of their table are inserted
    /// in blocks.
    func putRows(_ rows: [EntityRow]) throws(StateError) {
        var start = 0
        while start < rows.count {
            var end = start + 1
            while end < rows.count,
                rows[end].kind === rows[start].kind || rows[end].set.isExactly(rows[start].set)
            { end += 1 }
            try putRows(rows[start..<end], in: try table(rows[start].set))
            start = end
        }
    }

    private func putRows(_ rows: ArraySlice<EntityRow>, in table: SetTable) throws(StateError) {
        var place = rows.startIndex
        if rows.count >= TableLayout.smallestBlock, let insertion = table.insertion, rows.count >= insertion.size {
            table.invalidateLookups()
            let last = try firstInteger(table.lastEntity) { _ in } ?? 0
            while place < rows.endIndex, Int64(bitPattern: rows[place].id.rawValue) <= last {
                try putRow(rows[place])
                place += 1
            }
            while rows.endIndex - place >= insertion.size {
                let block = rows[place..<place + insertion.size]
                if try !insert(block, into: table, by: insertion) { for row in block { try putRow(row) } }
                place = block.endIndex
            }
        }
        for row in rows[place...] { try putRow(row) }
    }

    /// Inserts new rows with one statement. Returns false if they have to be written one after the other.
    private func insert(
        _ rows: ArraySlice<EntityRow>, into table: SetTable, by insertion: BlockInsertion
    ) throws(StateError) -> Bool {
        block.removeAll()
        for place in rows.indices {
            guard let packed = rows[place].values.packed(with: names) else { return false }
            let plan = try table.plan(packed.names) { names throws(StateError) in try number(of: names) }
            guard plan.shape != 0, packed.withUnsafeBytes({ block.append($0, by: plan) }) else { return false }
        }
        try run(insertion.statement, inPlace: true) { binding in
            for (number, place) in rows.indices.enumerated() {
                binding.index = Int32(number * insertion.columns)
                Self.bind(rows[place], shape: block.shape(of: number), &binding)
                block.bind(number, columns: table.layout.columns.count, &binding)
            }
        }
        return connection.changedRows == insertion.size
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
