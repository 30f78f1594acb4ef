import EDM
package import Operations
package import SyncCore

/// The bookkeeping in SQLite. Items that no query searches are stored as in a snapshot.
///
/// Not `Sendable`: it belongs to the state's connection.
package final class StoredBookkeeping: BookkeepingStorage, StatementRunner {
    let connection: Connection
    let coverage: Coverage
    /// The names that operations repeat.
    private let names: NameTable
    /// The defining queries, in order; nil if they are not read yet. Each record of a download needs them.
    private var knownQueries: [QueryState]?
    /// Lists that almost never change and that each record of a download needs; nil if they are not read yet.
    private var knownBatches: [OpenBatch]?
    private var knownOpenLinks: [OpenLink]?
    private var knownQuarantine: [QuarantineEntry]?
    /// The latest events; nil if they are not read yet.
    private var knownEvents: [StoreEvent]?

    private let writeQuery = Statement(
        """
        INSERT OR REPLACE INTO queries VALUES (?1, COALESCE((SELECT position FROM queries WHERE name = ?1),
          (SELECT MAX(position) + 1 FROM queries), 1), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)

    init(_ connection: Connection, names: NameTable) {
        self.connection = connection
        coverage = Coverage(connection)
        self.names = names
    }

    /// Writes the changes that are in memory.
    func flush() throws(SQLiteError) { try coverage.flush() }

    /// Discards cached rows after a rollback.
    func invalidateCaches() {
        coverage.invalidate()
        (knownQueries, knownEvents) = (nil, nil)
        (knownBatches, knownOpenLinks, knownQuarantine) = (nil, nil, nil)
    }

    // MARK: Undone operations

    static let undoneColumns = PendingRow.columns + ", undo"

    package func undoneOperations() throws(StateError) -> [UndoneOperation] {
        try list("SELECT \(Self.undoneColumns) FROM undone ORDER BY sequence") {
            row throws(StateError) in try undone(row)
        }
    }

    package func undoneOperation(_ sequence: SequenceNumber) throws(StateError) -> UndoneOperation? {
        try one("SELECT \(Self.undoneColumns) FROM undone WHERE sequence = ?", [SQLValue(sequence)]) {
            row throws(StateError) in try undone(row)
        }
    }

    package func hasUndone() throws(StateError) -> Bool { try first("SELECT 1 FROM undone LIMIT 1") != nil }

    func undone(_ row: Row) throws(StateError) -> UndoneOperation {
        UndoneOperation(operation: try PendingRow.read(row, names), undo: UInt64(bitPattern: row.integer(15)))
    }

    package func putUndone(_ undone: UndoneOperation) throws(StateError) {
        try run(
            "INSERT OR REPLACE INTO undone VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            PendingRow.values(undone.operation) + [SQLValue(undone.undo)])
    }

    package func removeUndone(_ sequence: SequenceNumber) throws(StateError) {
        try run("DELETE FROM undone WHERE sequence = ?", [SQLValue(sequence)])
    }

    // MARK: Open batches

    package func openBatches() throws(StateError) -> [OpenBatch] {
        if let knownBatches { return knownBatches }
        let contents = try list("SELECT content FROM open_batches ORDER BY batch") { $0[0].blob ?? [] }
        let found = try contents.map { content throws(StateError) in try Self.openBatch(content) }
        knownBatches = found
        return found
    }

    package func openBatch(_ batch: BatchID) throws(StateError) -> OpenBatch? {
        guard
            let content = try first("SELECT content FROM open_batches WHERE batch = ?", [SQLValue(batch)])?.first?.blob
        else { return nil }
        return try Self.openBatch(content)
    }

    package func putOpenBatch(_ batch: OpenBatch) throws(StateError) {
        knownBatches = nil
        try run(
            "INSERT OR REPLACE INTO open_batches VALUES (?, ?)",
            [SQLValue(batch.batch), .blob(SnapshotCodec.encode(.openBatch(batch)).payload)])
    }

    package func removeOpenBatch(_ batch: BatchID) throws(StateError) {
        knownBatches = nil
        try run("DELETE FROM open_batches WHERE batch = ?", [SQLValue(batch)])
    }

    private static func openBatch(_ content: [UInt8]) throws(StateError) -> OpenBatch {
        do throws(CodecError) {
            if case .openBatch(let batch) = try SnapshotCodec.decode(.openBatch, payload: content) { return batch }
        } catch {
            throw StateError(.damaged, "The views contain a batch that cannot be decoded. \(error)")
        }
        throw StateError(.damaged, "The views contain an invalid batch.")
    }

    // MARK: Merge bases

    package func mergeBase(_ id: EntityID) throws(StateError) -> MergeBase? {
        guard let state = try first("SELECT state FROM ancestors WHERE entity = ?", [SQLValue(id)])?.first?.blob else {
            return nil
        }
        return try Self.mergeBase(state)
    }

    package func putMergeBase(_ mergeBase: MergeBase) throws(StateError) {
        try run(
            "INSERT OR REPLACE INTO ancestors VALUES (?, ?)",
            [SQLValue(mergeBase.id), .blob(SnapshotCodec.encode(.ancestor(mergeBase)).payload)])
    }

    package func removeMergeBase(_ id: EntityID) throws(StateError) {
        try run("DELETE FROM ancestors WHERE entity = ?", [SQLValue(id)])
    }

    package func mergeBases() throws(StateError) -> [EntityID] {
        try list("SELECT entity FROM ancestors ORDER BY entity") {
            EntityID(rawValue: UInt64(bitPattern: $0.integer(0)))
        }
    }

    package func hasMergeBases() throws(StateError) -> Bool { try first("SELECT 1 FROM ancestors LIMIT 1") != nil }

    static func mergeBase(_ state: [UInt8]) throws(StateError) -> MergeBase {
        do throws(CodecError) {
            if case .ancestor(let mergeBase) = try SnapshotCodec.decode(.ancestor, payload: state) { return mergeBase }
        } catch {
            throw StateError(.damaged, "The views contain a merge base that cannot be decoded. \(error)")
        }
        throw StateError(.damaged, "The views contain an invalid merge base.")
    }

    // MARK: Streams

    package func streams(of id: EntityID) throws(StateError) -> [StreamImage] {
        guard let state = try first("SELECT state FROM streams WHERE entity = ?", [SQLValue(id)])?.first?.blob else {
            return []
        }
        return try Self.streams(state)
    }

    package func putStreams(_ streams: [StreamImage], of id: EntityID) throws(StateError) {
        guard !streams.isEmpty else { return try run("DELETE FROM streams WHERE entity = ?", [SQLValue(id)]) }
        try run(
            "INSERT OR REPLACE INTO streams VALUES (?, ?)",
            [SQLValue(id), .blob(SnapshotCodec.encode(.streams(id, streams)).payload)])
    }

    static func streams(_ state: [UInt8]) throws(StateError) -> [StreamImage] {
        do throws(CodecError) {
            if case .streams(_, let streams) = try SnapshotCodec.decode(.streams, payload: state) { return streams }
        } catch {
            throw StateError(.damaged, "The views contain streams that cannot be decoded. \(error)")
        }
        throw StateError(.damaged, "The views contain invalid streams.")
    }

    // MARK: Lists that are stored as one value

    package func events() throws(StateError) -> [StoreEvent] {
        if let knownEvents { return knownEvents }
        let found = try storedEvents()
        knownEvents = found
        return found
    }

    private func storedEvents() throws(StateError) -> [StoreEvent] {
        guard let state = try first("SELECT state FROM events")?.first?.blob else { return [] }
        do throws(CodecError) {
            if case .events(let events) = try SnapshotCodec.decode(.list, payload: state) { return events }
        } catch {
            throw StateError(.damaged, "The views contain events that cannot be decoded. \(error)")
        }
        throw StateError(.damaged, "The views contain invalid events.")
    }

    package func putEvents(_ events: [StoreEvent]) throws(StateError) {
        try run(
            "INSERT OR REPLACE INTO events VALUES (1, ?)", [.blob(SnapshotCodec.encode(.events(events)).payload)])
        knownEvents = events
    }

    package func openLinks() throws(StateError) -> [OpenLink] {
        if let knownOpenLinks { return knownOpenLinks }
        let found = try storedOpenLinks()
        knownOpenLinks = found
        return found
    }

    private func storedOpenLinks() throws(StateError) -> [OpenLink] {
        guard let state = try first("SELECT state FROM open_links")?.first?.blob else { return [] }
        do throws(CodecError) {
            if case .openLinks(let links) = try SnapshotCodec.decode(.list, payload: state) { return links }
        } catch {
            throw StateError(.damaged, "The views contain dangling links that cannot be decoded. \(error)")
        }
        throw StateError(.damaged, "The views contain invalid dangling links.")
    }

    package func putOpenLinks(_ links: [OpenLink]) throws(StateError) {
        knownOpenLinks = nil
        try run(
            "INSERT OR REPLACE INTO open_links VALUES (1, ?)", [.blob(SnapshotCodec.encode(.openLinks(links)).payload)])
    }

    package func quarantine() throws(StateError) -> [QuarantineEntry] {
        if let knownQuarantine { return knownQuarantine }
        let found = try storedQuarantine()
        knownQuarantine = found
        return found
    }

    private func storedQuarantine() throws(StateError) -> [QuarantineEntry] {
        guard let state = try first("SELECT state FROM quarantine")?.first?.blob else { return [] }
        do throws(CodecError) {
            if case .quarantine(let entries) = try SnapshotCodec.decode(.list, payload: state) { return entries }
        } catch {
            throw StateError(.damaged, "The views contain a quarantine that cannot be decoded. \(error)")
        }
        throw StateError(.damaged, "The views contain an invalid quarantine.")
    }

    package func putQuarantine(_ entries: [QuarantineEntry]) throws(StateError) {
        knownQuarantine = nil
        try run(
            "INSERT OR REPLACE INTO quarantine VALUES (1, ?)",
            [.blob(SnapshotCodec.encode(.quarantine(entries)).payload)])
    }

    // MARK: Defining queries

    package func queries() throws(StateError) -> [QueryState] {
        if let knownQueries { return knownQueries }
        let found = try storedQueries()
        knownQueries = found
        return found
    }

    private func storedQueries() throws(StateError) -> [QueryState] {
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

    package func putQuery(_ state: QueryState) throws(StateError) {
        try run(writeQuery) { binding in
            binding.text(state.query.name)
            binding.text(state.query.query)
            binding.integer(state.query.automaticallyRetrievesStreams ? 1 : 0)
            binding.integer(Int64(bitPattern: state.run))
            binding.integer(state.isComplete ? 1 : 0)
            binding.integer(state.isDelta ? 1 : 0)
            binding.link(state.deltaLink)
            binding.link(state.next)
            binding.integer(state.downloaded)
        }
        if let place = knownQueries?.firstIndex(where: { $0.query.name.isExactly(state.query.name) }) {
            knownQueries?[place] = state
        } else {
            knownQueries?.append(state)
        }
    }

    package func removeQuery(_ name: String) throws(StateError) {
        try run("DELETE FROM queries WHERE name = ?", [.text(name)])
        knownQueries?.removeAll { $0.query.name.isExactly(name) }
    }

    package func cover(_ id: EntityID, query: String, run sequence: SequenceNumber) throws(StateError) {
        try mapped { () throws(SQLiteError) in try coverage.cover(id, query: query, run: sequence) }
    }

    package func drainUncovered(query: String, before run: SequenceNumber) throws(StateError) -> [EntityID] {
        try mapped { () throws(SQLiteError) in try coverage.drainUncovered(query: query, before: run) }
    }

    /// Returns whether the query covers any entity.
    package func hasEntities(query: String) throws(StateError) -> Bool {
        try mapped { () throws(SQLiteError) in try coverage.hasEntities(query: query) }
    }

    package func isCovered(_ id: EntityID) throws(StateError) -> Bool {
        for query in try queries() where try isCovered(id, by: query.query.name) { return true }
        return false
    }

    package func isCovered(_ id: EntityID, by query: String) throws(StateError) -> Bool {
        try mapped { () throws(SQLiteError) in try coverage.covers(id, query: query) }
    }

    package func awaitsDelivery(_ id: EntityID, by query: String) throws(StateError) -> Bool {
        try mapped { () throws(SQLiteError) in try coverage.run(of: id, query: query) == 0 }
    }

    package func uncover(_ id: EntityID, query: String?) throws(StateError) {
        // Because the queries are few, their coverage is searched one after the other.
        let names = if let query { [query] } else { try queries().map(\.query.name) }
        for name in names {
            try mapped { () throws(SQLiteError) in try coverage.uncover(id, query: name) }
        }
    }

    // MARK: Passes over the whole bookkeeping

    package func forEachUndone(_ body: (UndoneOperation) throws -> Void) throws {
        try eachRow("SELECT \(Self.undoneColumns) FROM undone ORDER BY sequence") { row in
            try body(try undone(row))
        }
    }

    package func forEachStreams(_ body: (EntityID, [StreamImage]) throws -> Void) throws {
        try eachRow("SELECT entity, state FROM streams ORDER BY entity") {
            try body($0.entity(0), try Self.streams($0[1].blob ?? []))
        }
    }

    package func forEachMergeBase(_ body: (MergeBase) throws -> Void) throws {
        try eachRow("SELECT state FROM ancestors ORDER BY entity") { try body(try Self.mergeBase($0[0].blob ?? [])) }
    }

    package func forEachCoverage(_ body: (String, EntityID, SequenceNumber) throws -> Void) throws {
        do {
            try coverage.forEach(body)
        } catch let error as SQLiteError {
            throw StateError(error)
        }
    }
}

extension Binding {
    fileprivate mutating func integer(_ value: Int64?) { if let value { integer(value) } else { null() } }

    fileprivate mutating func link(_ link: QueryState.ServiceLink?) {
        text(link?.url)
        integer(link?.time)
    }
}
