package import EDM
package import SyncCore

/// A fast lookup of an entity by its key.
extension EntityQueries {
    /// The statement that finds the entities of a set by a single numeric key.
    struct PointRead {
        let statement: Statement
        let set: String
    }

    /// Returns the entity of the set with this number as key, or the oldest of several. Nil if there is none, or if the
    /// key is not numeric or has no column: then use the general lookup.
    package func row(in set: EntitySet, key: Int64) throws(StateError) -> EntityRow? {
        let known = pointReads[set.name]
        let read = if let known { known } else { pointRead(set) }
        if known == nil { pointReads[set.name] = .some(read) }
        guard let read else { return nil }
        return try one(read.statement, { $0.integer(key) }) { row throws(StateError) in
            try rowTables.entityRow(row, set: read.set)
        }
    }

    private func pointRead(_ set: EntitySet) -> PointRead? {
        let keys = set.entityType.keyParts
        guard keys.count == 1, let layout = rowTables.layouts[set.name], let column = layout.column(at: keys[0].path),
            StoredKind(column.type) == .integer
        else { return nil }
        return PointRead(
            statement: Statement(
                "SELECT \(RowTables.columns) FROM \(layout.table) WHERE \(column.name) = ? ORDER BY entity LIMIT 1"),
            set: set.name)
    }

}
