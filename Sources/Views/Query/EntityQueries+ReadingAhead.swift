import EDM
import Operations
import SyncCore

/// Lookups for many entities at once.
extension EntityQueries {
    /// Calls `body` for each target of the entities in the current state, in ascending order of source and target.
    func eachTarget(
        of sources: [EntityID], along end: Navigation,
        _ body: (_ from: EntityID, _ to: EntityID, _ set: String) -> Void
    ) throws(StateError) {
        let (near, far) = end.relationship.isForward ? ("first", "second") : ("second", "first")
        // CROSS JOIN makes SQLite keep the order of the tables: there are few sources and many links. Without
        // statistics it would use the primary key also for links from their second end, and read the whole relationship
        // for each source.
        let index = end.relationship.isForward ? "" : " INDEXED BY links_by_second"
        let sql = """
            SELECT source.value, links.\(far) FROM json_each(?) AS source
            CROSS JOIN links\(index) ON links.relationship = \(StoredLinks.numberOfRelationship) AND links.\(near) = source.value AND links.in_local <> 0
            ORDER BY 1, 2
            """
        try each(sql, [Self.idList(sources), .text(end.relationship.name)]) { row throws(StateError) in
            let target = row.entity(1)
            guard let set = try mapped({ () throws(SQLiteError) in try entities.set(of: target) }) else { return }
            body(row.entity(0), target, set)
        }
    }

    /// Returns the entities that are in the set, in any order.
    func rows(_ ids: some Collection<EntityID>, in set: String) throws(StateError) -> [EntityRow] {
        guard let table = rowTables.layouts[set]?.table else { return [] }
        let sql = """
            SELECT \(RowTables.columns) FROM \(table) WHERE entity IN (SELECT value FROM json_each(?))
            """
        return try list(sql, [Self.idList(ids)]) { row throws(StateError) in try rowTables.entityRow(row, set: set) }
    }

    /// Returns a JSON array for `json_each`.
    static func idList(_ ids: some Sequence<EntityID>) -> SQLValue {
        var bytes = [UInt8(ascii: "[")]
        bytes.reserveCapacity(8 * ids.underestimatedCount + 2)
        for id in ids {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            var first = bytes.count
            var rest = id.rawValue
            repeat {
                bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
                rest /= 10
            } while rest > 0
            // The digits were appended in reverse order.
            var last = bytes.count - 1
            while first < last {
                bytes.swapAt(first, last)
                (first, last) = (first + 1, last - 1)
            }
        }
        bytes.append(UInt8(ascii: "]"))
        return .text(String(decoding: bytes, as: UTF8.self))
    }
}
