public import EDM
public import SyncCore

/// The short way from a key to its entity.
extension SQLiteState {
    /// How the entities of a set are found by a key that is one number.
    struct PointRead {
        let statement: Statement
        let set: String
    }

    /// The entity of the set that has this number as its key; of several the oldest. Nil where there is none, and where the
    /// key is no number or has no column: then go the long way.
    public func row(in set: EntitySet, key: Int64) throws(StateError) -> EntityRow? {
        let known = pointReads[set.name]
        let read = if let known { known } else { pointRead(set) }
        if known == nil { pointReads[set.name] = .some(read) }
        guard let read else { return nil }
        return try one(read.statement, { $0.integer(key) }) { row throws(StateError) in
            try entityRow(row, set: read.set)
        }
    }

    private func pointRead(_ set: EntitySet) -> PointRead? {
        let keys = set.entityType.keyParts
        guard keys.count == 1, let layout = layouts[set.name], let column = layout.column(at: keys[0].path),
            StoredKind(column.type) == .integer
        else { return nil }
        return PointRead(
            statement: Statement(
                "SELECT \(Self.rowColumns) FROM \(layout.table) WHERE \(column.name) = ? ORDER BY entity LIMIT 1"),
            set: set.name)
    }

    /// Whether the service names entities otherwise than by their keys: then a link has to be looked up before it is read.
    /// Asked once for each state of the store.
    public func hasNames() throws(StateError) -> Bool {
        let applied = try header().applied
        if let namesSeen, namesSeen.applied == applied { return namesSeen.any }
        let any = try first("SELECT 1 FROM sets JOIN keys ON set_number = id WHERE name = '' LIMIT 1") != nil
        namesSeen = (applied, any)
        return any
    }
}
