public import Operations
public import SyncCore

extension SQLiteState {
    public func queries() throws(StateError) -> [QueryState] {
        try list(
            """
            SELECT name, query, streams, run, complete, delta, delta_link, delta_link_time, next_link, next_link_time,
              downloaded
            FROM queries ORDER BY position
            """
        ) { row in
            QueryState(
                query: DefiningQuery(
                    name: row.text(0) ?? "", query: row.text(1) ?? "",
                    automaticallyRetrievesStreams: row.integer(2) != 0),
                run: UInt64(bitPattern: row.integer(3)), isComplete: row.integer(4) != 0, isDelta: row.integer(5) != 0,
                deltaLink: row.text(6).map { QueryState.ServiceLink(url: $0, time: row.integer(7)) },
                next: row.text(8).map { QueryState.ServiceLink(url: $0, time: row.integer(9)) },
                downloaded: row.isNull(10) ? nil : row.integer(10))
        }
    }

    public func putQuery(_ state: QueryState) throws(StateError) {
        let known = try first("SELECT position FROM queries WHERE name = ?", [.text(state.query.name)])?.first
        let next = try first("SELECT COALESCE(MAX(position), 0) + 1 FROM queries")?.first
        let position = known ?? next ?? .integer(1)
        let links = [state.deltaLink, state.next].flatMap { link -> [SQLValue] in
            link.map { [.text($0.url), .integer($0.time)] } ?? [.null, .null]
        }
        try run(
            "INSERT OR REPLACE INTO queries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                .text(state.query.name), position, .text(state.query.query),
                .integer(state.query.automaticallyRetrievesStreams ? 1 : 0), integer(state.run),
                .integer(state.isComplete ? 1 : 0), .integer(state.isDelta ? 1 : 0),
            ] + links + [state.downloaded.map(SQLValue.integer) ?? .null])
    }

    public func removeQuery(_ name: String) throws(StateError) {
        try run("DELETE FROM queries WHERE name = ?", [.text(name)])
    }

    public func cover(_ id: EntityID, query: String, run sequence: SequenceNumber) throws(StateError) {
        try run(statements.cover) { binding in
            binding.text(query)
            binding.id(id)
            binding.integer(Int64(bitPattern: sequence))
        }
    }

    public func takeUncovered(query: String, before run: SequenceNumber) throws(StateError) -> [EntityID] {
        // Those of no run have an index, since a delta asks for them, however many entities there are.
        let condition = run <= 1 ? "query = ?1 AND run = 0 AND run < ?2" : "query = ?1 AND run < ?2"
        // The largest number stands for "every one"; SQLite's integers are signed.
        let values: [SQLValue] = [.text(query), .integer(Int64(clamping: run))]
        let found = try list("SELECT entity FROM coverage WHERE \(condition) ORDER BY entity", values) {
            EntityID(rawValue: UInt64(bitPattern: $0.integer(0)))
        }
        try self.run("DELETE FROM coverage WHERE \(condition)", values)
        return found
    }

    /// Whether there is an entity that the query has brought.
    package func bringsEntities(query: String) throws(StateError) -> Bool {
        try first("SELECT 1 FROM coverage WHERE query = ? LIMIT 1", [.text(query)]) != nil
    }

    public func isCovered(_ id: EntityID) throws(StateError) -> Bool {
        // Query by query, since few are the queries: an index over the entities would be as large as what it finds.
        try first(
            """
            SELECT 1 FROM queries CROSS JOIN coverage ON coverage.query = queries.name AND coverage.entity = ? LIMIT 1
            """, [integer(id)]) != nil
    }

    public func isCovered(_ id: EntityID, by query: String) throws(StateError) -> Bool {
        try first("SELECT 1 FROM coverage WHERE query = ? AND entity = ?", [.text(query), integer(id)]) != nil
    }

    public func uncover(_ id: EntityID, query: String?) throws(StateError) {
        if let query {
            try run("DELETE FROM coverage WHERE entity = ? AND query = ?", [integer(id), .text(query)])
        } else {
            try run("DELETE FROM coverage WHERE query IN (SELECT name FROM queries) AND entity = ?", [integer(id)])
        }
    }
}
