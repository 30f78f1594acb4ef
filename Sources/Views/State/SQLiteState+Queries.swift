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
        do throws(SQLiteError) {
            try coverage.cover(id, query: query, run: sequence)
        } catch {
            throw Self.stateError(error)
        }
    }

    public func drainUncovered(query: String, before run: SequenceNumber) throws(StateError) -> [EntityID] {
        try mapped { () throws(SQLiteError) in try coverage.drainUncovered(query: query, before: run) }
    }

    /// Returns whether the query covers any entity.
    package func bringsEntities(query: String) throws(StateError) -> Bool {
        try mapped { () throws(SQLiteError) in try coverage.brings(query: query) }
    }

    public func isCovered(_ id: EntityID) throws(StateError) -> Bool {
        for query in try queryNames() {
            if try mapped({ () throws(SQLiteError) in try coverage.covers(id, query: query) }) { return true }
        }
        return false
    }

    public func isCovered(_ id: EntityID, by query: String) throws(StateError) -> Bool {
        try mapped { () throws(SQLiteError) in try coverage.covers(id, query: query) }
    }

    public func uncover(_ id: EntityID, query: String?) throws(StateError) {
        let queries = if let query { [query] } else { try queryNames() }
        for query in queries {
            try mapped { () throws(SQLiteError) in try coverage.uncover(id, query: query) }
        }
    }

    /// Returns the names of the queries. Because they are few, their coverage is searched one after the other.
    private func queryNames() throws(StateError) -> [String] {
        try list("SELECT name FROM queries") { $0.text(0) ?? "" }
    }
}
