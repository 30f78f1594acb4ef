package import EDM
package import Operations
package import SyncCore

/// The views: the state in SQLite, with a table of typed columns for each entity set, a table of links, and the
/// bookkeeping of the fold.
///
/// The file is derived: it contains nothing that the log does not contain, and may be deleted at any time. In addition
/// to the columns, each row contains its values in the binary encoding of the log, which preserves the difference of
/// unset and null, trailing zeros and offsets. The property names are in a separate table, once for all rows with the
/// same names.
///
/// Not `Sendable`: it belongs to one actor, one call at a time.
package final class SQLiteState: StateBacking, StatementRunner {
    package let connection: Connection
    package let rowTables: RowTables
    let links: StoredLinks
    package let entityQueries: EntityQueries
    let statements = FoldStatements()
    private let isReadOnly: Bool
    private let writingMark: WritingMark
    /// The names of sets that have, or had, entities and keys.
    let sets: InternedNames
    let entities: EntitySetRanges
    package let bookkeeping: StoredBookkeeping
    private let storedQueue: StoredQueue
    let storedKeys: StoredKeys
    private let headerRow: HeaderRow
    /// The last result of ``hasNames()``, with the record that was applied last.
    var namesSeen: (applied: SequenceNumber, any: Bool)?
    package let queue = QueueTable()
    /// Whether a query's result depends on the number of the last download; see ``drainReadTables()``.
    var readsLastDownload = false

    /// The statements that create the indexes at the end of ``fill(_:)``; nil at other times.
    var deferredIndexes: [String]?

    /// Opens the views at `path`. Creates them if they do not exist.
    ///
    /// - Parameters:
    ///   - path: The file, or nil to store the views completely in memory, without any file.
    ///   - key: The encryption key, or nil for a plain file. A file with another key, or without one, is `damaged`.
    ///   - store: The store's identifier, as in the log. Views of another store are `damaged`.
    ///   - boot: An identifier of the current run of the operating system. Views that were being written when an
    ///     earlier run ended are `damaged`: they are not synced while they are written, so their content on the disk is
    ///     unknown. Nil omits the check.
    ///   - isUnchanging: Whether no process writes the file meanwhile; see ``Connection``.
    ///
    /// - Throws: ``StateError`` with `damaged` if the file is no readable database or has another version: delete it
    ///   and open again.
    package init(
        path: String?, key: ViewsKey? = nil, store: String, boot: String? = nil, readOnly: Bool = false,
        isUnchanging: Bool = false
    ) throws(StateError) {
        isReadOnly = readOnly
        if let path, path != ":memory:" {
            if key == nil, let page = PageChecks.firstWrongPage(of: path, limit: PageChecks.bytesCheckedAtOpening) {
                throw StateError(changedPage: page)
            }
            if !readOnly { PrivateFile.make(path) }
        }
        do {
            connection = try Connection(
                path: path ?? ":memory:", key: path == nil ? nil : key, readOnly: readOnly, isUnchanging: isUnchanging)
            let names = NameTable()
            rowTables = RowTables(connection, names: names)
            links = StoredLinks(connection)
            sets = InternedNames("sets", connection)
            entities = EntitySetRanges(connection, sets: sets)
            entityQueries = EntityQueries(rowTables, entities, queue)
            bookkeeping = StoredBookkeeping(connection, names: names)
            storedQueue = StoredQueue(connection, names: names)
            storedKeys = StoredKeys(connection, sets)
            headerRow = HeaderRow(connection)
            try connection.registerDecimalCollation()
            try connection.registerSortKey()
            try connection.registerPendingState(of: queue)
            // Derived files need no sync: after a crash of the machine they are checked and rebuilt.
            if !readOnly {
                try connection.useWriteAheadLog()
                try connection.execute("PRAGMA synchronous = OFF")
            }
            // Otherwise a large sort would write rows to a temporary file.
            if path == nil { try connection.execute("PRAGMA temp_store = MEMORY") }
            // Not memory-mapped: SQLite reads slightly past a damaged page, and a read past the end of a mapping traps.
            try connection.execute("PRAGMA mmap_size = 0; PRAGMA foreign_keys = OFF")
            try connection.setCacheSize(Connection.usualCacheSize)
            let version = try connection.first("PRAGMA user_version")?.first?.integer ?? 0
            if version != Schema.version, !readOnly { try Schema.create(connection, store, replacing: version != 0) }
        } catch {
            throw StateError(error)
        }
        if !readOnly, let page = connection.firstWrongSealedPage(limit: PageChecks.bytesCheckedAtOpening / 4) {
            throw StateError(changedPage: page)
        }
        guard try Self.store(of: connection) == store else {
            throw StateError(.damaged, "The views belong to another store.")
        }
        writingMark = try WritingMark(connection, boot: boot)
        queue.reader = { [unowned self] () throws(StateError) in try readQueue() }
        if let service = try header().service, let model = try? CSDLReader.read(service.metadata) { adopt(model) }
    }

    private static func store(of connection: Connection) throws(StateError) -> String? {
        do throws(SQLiteError) {
            return try connection.first("SELECT store FROM header")?.first?.text
        } catch {
            throw StateError(error)
        }
    }

    /// Closes the file. The state cannot be used any more.
    package func close() {
        // Uncommitted changes are folded again from the log.
        try? commitSharedTransaction()
        // A file without the mark was not changed.
        if !isReadOnly, writingMark.mayHaveChanged {
            try? connection.transaction { () throws(SQLiteError) in try storedQueue.writeEffects(queue) }
        }
        // If this fails, the next opening in another run of the system rebuilds the views.
        try? writingMark.end()
        headerRow.invalidate()
        connection.close()
    }

    /// Runs `body` in one transaction, atomically. An open transaction of ``inSharedTransaction(_:)`` is committed
    /// first.
    package func transaction<T>(_ body: () throws -> T) throws -> T {
        try commitSharedTransaction()
        try writingMark.begin()
        let former = rowTables.current
        do {
            let result = try connection.transaction {
                queue.begin()
                let result = try writing(body)
                try flush()
                return result
            }
            queue.commit()
            return result
        } catch {
            invalidateCaches(former)
            throw Self.ofState(error)
        }
    }

    /// Converts errors of SQLite, as of a transaction's begin, end or last writes, to ``StateError``. Keeps the rest.
    private static func ofState(_ error: any Error) -> any Error {
        (error as? SQLiteError).map(StateError.init) ?? error
    }

    private func invalidateCaches(_ former: RowTables.SavedTables? = nil) {
        headerRow.invalidate()
        links.invalidate()
        sets.invalidate()
        entities.invalidate()
        bookkeeping.invalidateCaches()
        if rowTables.invalidateCaches(former) { entityQueries.forgetStatements() }
        namesSeen = nil
        queue.rollBack()
    }

    /// Whether a closure that changes the state is running.
    private(set) var isWriting = false

    private func writing<T>(_ body: () throws -> T) rethrows -> T {
        isWriting = true
        defer { isWriting = false }
        return try body()
    }

    /// Writes the changes that a transaction has kept in memory.
    func flush() throws(SQLiteError) {
        try headerRow.flush()
        try entities.flush()
        try bookkeeping.flush()
        try storedQueue.flush(queue)
    }

    // MARK: Gathering

    /// Whether a transaction is open that the next call of ``inSharedTransaction(_:)`` joins.
    private var isTransactionShared = false

    /// Runs `body` in a transaction that later calls join, until ``commitSharedTransaction()``. Its changes are visible
    /// here at once. The file contains them after the commit, and each page that several calls changed is written once.
    ///
    /// If `body` throws, the whole transaction is rolled back, including the earlier calls, which the caller has to
    /// repeat. `body` must not install a model.
    package func inSharedTransaction<T>(_ body: () throws -> T) throws -> T {
        try writingMark.begin()
        do {
            if !isTransactionShared {
                try connection.begin()
                queue.begin()
                isTransactionShared = true
            }
            return try writing(body)
        } catch {
            endSharedTransaction()
            invalidateCaches()
            throw Self.ofState(error)
        }
    }

    /// Commits the transaction of ``inSharedTransaction(_:)``, if one is open. If that fails, it is rolled back.
    package func commitSharedTransaction() throws(StateError) {
        guard isTransactionShared else { return }
        defer { endSharedTransaction() }
        do throws(SQLiteError) {
            try flush()
            try connection.commit()
            queue.commit()
        } catch {
            invalidateCaches()
            throw StateError(error)
        }
    }

    /// Rolls back the uncommitted changes.
    private func endSharedTransaction() {
        isTransactionShared = false
        connection.rollBack()
    }

    /// Runs `body`, which changes nothing, as one read transaction, which is faster for many small queries.
    ///
    /// Outside of it, views that were opened for reading may contain cached rows that another process has replaced.
    package func reading<T>(_ body: () throws -> T) throws -> T {
        if isReadOnly { invalidateCaches() }
        return try connection.reading(body)
    }

    // MARK: Header

    package func header() throws(StateError) -> StateHeader {
        try mapped { () throws(SQLiteError) in try headerRow.read() }
    }

    package func setHeader(_ header: StateHeader) throws(StateError) {
        try mapped { () throws(SQLiteError) in try headerRow.write(header) }
    }

    // MARK: Model

    package var model: EntityDataModel? { rowTables.model }

    package func install(_ model: EntityDataModel) throws(StateError) {
        try rowTables.install(model)
        try deferIndexes()
        entityQueries.forgetStatements()
    }

    /// Uses the tables of a model that was installed before.
    package func adopt(_ model: EntityDataModel) {
        rowTables.adopt(model)
        entityQueries.forgetStatements()
    }

    // MARK: Links

    package func links(_ relationship: String, first: EntityID) throws(StateError) -> [LinkRow] {
        try links.links(relationship, first: first)
    }

    package func links(_ relationship: String, second: EntityID) throws(StateError) -> [LinkRow] {
        try links.links(relationship, second: second)
    }

    package func link(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) -> LinkRow? {
        try links.link(relationship, first: first, second: second)
    }

    package func links(of id: EntityID) throws(StateError) -> [LinkRow] { try links.links(of: id) }

    package func changedLinks() throws(StateError) -> [LinkRow] { try links.changedLinks() }

    package func putLink(_ link: LinkRow) throws(StateError) { try links.putLink(link) }

    package func putLinks(_ links: [LinkRow]) throws(StateError) { try self.links.putLinks(links) }

    package func removeLink(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) {
        try links.removeLink(relationship, first: first, second: second)
    }

    // MARK: Queue

    private func readQueue() throws(StateError) -> PendingQueue {
        try storedQueue.read { () throws(StateError) in
            try header().applied
        } subjects: { operation, earlier throws(StateError) in
            try subjects(of: operation, model, after: earlier)
        }
    }

    package func putPending(_ pending: PendingOperation) throws(StateError) {
        try queue.put(pending, about: try subjects(of: pending.operation, model, after: queue.load()))
        try queueChanged()
    }

    package func setPendingStatus(
        _ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber
    ) throws(StateError) {
        try queue.setStatus(status, since: since, of: sequence)
        try queueChanged()
    }

    package func removePending(_ sequence: SequenceNumber) throws(StateError) {
        try queue.remove(sequence)
        try queueChanged()
    }

    /// Writes a change at once if no transaction is open.
    private func queueChanged() throws(StateError) {
        if !queue.hasTransaction { try mapped { () throws(SQLiteError) in try storedQueue.flush(queue) } }
    }
}
