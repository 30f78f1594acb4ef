public import EDM
public import Operations
public import SyncCore

/// The views: the state in SQLite, with a table of typed columns for each entity set, a table of links, and the
/// bookkeeping of the fold.
///
/// The file is derived: it contains nothing that the log does not contain, and may be deleted at any time. In addition
/// to the columns, each row contains its values in the binary encoding of the log, which preserves the difference of
/// unset and null, trailing zeros and offsets. The property names are in a separate table, once for all rows with the
/// same names.
///
/// Not `Sendable`: it belongs to one actor, one call at a time.
public final class SQLiteState: StateBacking, StatementRunner {
    package let connection: Connection
    var layouts: [String: TableLayout] = [:]
    /// The tables that were used, by set.
    private var tables: [String: SetTable] = [:]
    /// The two tables that were used last.
    private var recentTables: (SetTable?, SetTable?)
    let statements = FoldStatements()
    /// The names of relationships that have, or had, links.
    let relationships: InternedNames
    /// The names of sets that have, or had, entities and keys.
    let sets: InternedNames
    let entities: EntitySetRanges
    public let bookkeeping: StoredBookkeeping
    private let storedQueue: StoredQueue
    private let headerRow: HeaderRow
    /// The names that rows and operations repeat.
    let names = NameTable()
    /// The lists of property names of rows.
    var shapes = RowSchemas()
    public package(set) var model: EntityDataModel?
    /// The lookups by key, by set; nil for a set without such a lookup. See ``row(in:key:)``.
    var pointReads: [String: PointRead?] = [:]
    /// Compiled statements of queries over sets.
    var selections: [SelectionKey: SQLText] = [:]
    /// Statements for the entities that are linked to one entity.
    var reachedTexts: [ReachedForm: String] = [:]
    /// The number of calls that set a model.
    private var adoptions = 0
    /// The last result of ``hasNames()``, with the record that was applied last.
    var namesSeen: (applied: SequenceNumber, any: Bool)?
    public let queue = QueueTable()
    /// Whether an answer depends on the number of the last download; see ``drainReadTables()``.
    var readsLastDownload = false

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
    public init(
        path: String?, key: ViewsKey? = nil, store: String, boot: String? = nil, readOnly: Bool = false,
        isUnchanging: Bool = false
    ) throws(StateError) {
        self.boot = boot
        isReadOnly = readOnly
        if let path, path != ":memory:" {
            if key == nil { try Self.check(PageChecks.firstWrongPage(of: path, limit: Self.bytesCheckedAtOpening)) }
            if !readOnly { PrivateFile.make(path) }
        }
        do {
            connection = try Connection(
                path: path ?? ":memory:", key: path == nil ? nil : key, readOnly: readOnly, isUnchanging: isUnchanging)
            relationships = InternedNames("relationships", connection)
            sets = InternedNames("sets", connection)
            entities = EntitySetRanges(connection, sets: sets)
            bookkeeping = StoredBookkeeping(connection, names: names)
            storedQueue = StoredQueue(connection, names: names)
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
            try connection.execute("PRAGMA mmap_size = 0; PRAGMA cache_size = -32768; PRAGMA foreign_keys = OFF")
            let version = try connection.first("PRAGMA user_version")?.first?.integer ?? 0
            if version != Schema.version, !readOnly { try Self.create(connection, store, replacing: version != 0) }
        } catch {
            throw StateError(error)
        }
        if !readOnly { try Self.check(connection.firstWrongSealedPage(limit: Self.bytesCheckedAtOpening / 4)) }
        guard try first("SELECT store FROM header")?.first?.text == store else {
            throw StateError(.damaged, "The views belong to another store.")
        }
        if let boot, let writing = try first("SELECT writing FROM header")?.first?.text {
            guard writing == boot else {
                throw StateError(.damaged, "The system stopped while the views were written.")
            }
            isMarked = true
        }
        queue.reader = { [unowned self] () throws(StateError) in try readQueue() }
        if let service = try header().service, let model = try? CSDLReader.read(service.metadata) { adopt(model) }
    }

    /// The size up to which all pages of a file are checked when it is opened, in some milliseconds. A quarter of it
    /// for an encrypted file, where the check takes longer. Later pages are checked when they are read.
    private static let bytesCheckedAtOpening = 16 << 20

    private static func check(_ wrongPage: Int?) throws(StateError) {
        guard let page = wrongPage else { return }
        throw StateError(.damaged, "Page \(page) of the views was changed after it was written.")
    }

    private static func create(_ connection: Connection, _ store: String, replacing: Bool) throws(SQLiteError) {
        guard !replacing else {
            throw SQLiteError(code: 26, message: "the views have another version", sql: nil)
        }
        try connection.execute("BEGIN IMMEDIATE")
        for statement in Schema.statements { try connection.execute(statement) }
        try connection.run(
            "INSERT INTO header VALUES (1, ?, 0, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0)", [.text(store)])
        try connection.execute("PRAGMA user_version = \(Schema.version)")
        try connection.execute("COMMIT")
    }

    /// Closes the file. The state cannot be used any more.
    public func close() {
        // Uncommitted changes are folded again from the log.
        try? commitSharedTransaction()
        // Without the mark in the file, it was not changed.
        if !isReadOnly, isMarked || boot == nil {
            try? connection.transaction { () throws(SQLiteError) in try storedQueue.writeEffects(queue) }
        }
        // If this fails, the next opening in another run of the system rebuilds the views.
        try? endWriting()
        headerRow.invalidate()
        connection.close()
    }

    /// Runs `body` in one transaction, atomically. An open transaction of ``inSharedTransaction(_:)`` is committed
    /// first.
    public func transaction<T>(_ body: () throws -> T) throws -> T {
        try commitSharedTransaction()
        try beginWriting()
        let before = (layouts, model)
        let adopted = adoptions
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
            invalidateCaches()
            if adoptions != adopted {
                // They refer to the tables that the rollback removed.
                forgetTables()
                pointReads = [:]
                selections = [:]
                reachedTexts = [:]
                connection.forgetStatements()
                (layouts, model) = before
            }
            throw Self.ofState(error)
        }
    }

    /// An error of SQLite itself, as that of a transaction's begin, end or last writes, as the error of a state.
    private static func ofState(_ error: any Error) -> any Error {
        (error as? SQLiteError).map(StateError.init) ?? error
    }

    private func invalidateCaches() {
        headerRow.invalidate()
        relationships.invalidate()
        sets.invalidate()
        entities.invalidate()
        bookkeeping.invalidateCaches()
        shapes = RowSchemas()
        for table in tables.values {
            table.invalidateLookups()
            table.forgetPlans()
        }
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
    public func inSharedTransaction<T>(_ body: () throws -> T) throws -> T {
        try beginWriting()
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
    public func commitSharedTransaction() throws(StateError) {
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
    public func reading<T>(_ body: () throws -> T) throws -> T { try connection.reading(body) }

    // MARK: Crashes of the machine

    private let boot: String?
    private let isReadOnly: Bool
    /// Whether the file is marked as being written.
    private var isMarked = false

    /// Marks the file as being written, durably and before any other change.
    private func beginWriting() throws(StateError) {
        guard let boot, !isMarked else { return }
        try setWriting(.text(boot))
        isMarked = true
    }

    /// Makes the file durable, and only then removes the mark.
    private func endWriting() throws(StateError) {
        guard isMarked, let boot else { return }
        try setWriting(.text(boot))
        try setWriting(.null)
        isMarked = false
    }

    /// Sets or removes the mark. Everything written before becomes durable too: a checkpoint syncs the whole file if it
    /// has a page to write.
    private func setWriting(_ boot: SQLValue) throws(StateError) {
        do throws(SQLiteError) {
            try connection.execute("PRAGMA synchronous = FULL")
            try connection.run("UPDATE header SET writing = ?", [boot])
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA synchronous = OFF")
        } catch {
            try? connection.execute("PRAGMA synchronous = OFF")
            throw StateError(error)
        }
    }

    // MARK: Header

    public func header() throws(StateError) -> StateHeader {
        try mapped { () throws(SQLiteError) in try headerRow.read() }
    }

    public func setHeader(_ header: StateHeader) throws(StateError) {
        try mapped { () throws(SQLiteError) in try headerRow.write(header) }
    }

    // MARK: Model

    func createTables(_ model: EntityDataModel) throws(StateError) {
        let index = RelationshipIndex(model)
        for set in model.allSets {
            guard let layout = layouts[set.name] else { continue }
            for statement in layout.createStatements { try run(statement) }
            var searched = [set.entityType.keyParts.map(\.path)]
            searched += index.constraints(ofDependentsIn: set.name).map { $0.pairs.map(\.dependent) }
            searched += index.constraints(ofPrincipalsIn: set.name).map { $0.pairs.map(\.principal) }
            var indexed: Set<[String]> = []
            for properties in searched where indexed.insert(properties).inserted {
                if let statement = layout.createIndex(over: properties, number: indexed.count) { try run(statement) }
            }
        }
    }

    /// Uses the tables of a model that was installed before.
    package func adopt(_ model: EntityDataModel) {
        self.model = model
        adoptions += 1
        pointReads = [:]
        selections = [:]
        reachedTexts = [:]
        connection.forgetStatements()
        forgetTables()
        var ordinals: [String: Int] = [:]
        layouts = [:]
        for set in model.allSets where layouts[set.name] == nil {
            let ordinal = ordinals[set.name.lowercased(), default: 0]
            ordinals[set.name.lowercased()] = ordinal + 1
            layouts[set.name] = TableLayout(set, ordinal: ordinal, model: model)
        }
    }

    package func layout(_ set: String) throws(StateError) -> TableLayout {
        guard let layout = layouts[set] else {
            throw StateError(.noModel, "The metadata has no entity set \(set), which the log uses.")
        }
        return layout
    }

    private func forgetTables() {
        tables = [:]
        recentTables = (nil, nil)
    }

    func table(_ set: String) throws(StateError) -> SetTable {
        if let recent = recentTables.0, recent.set == set { return recent }
        if let recent = recentTables.1, recent.set == set {
            recentTables = (recent, recentTables.0)
            return recent
        }
        let table = if let known = tables[set] { known } else { SetTable(try layout(set), of: set) }
        tables[set] = table
        recentTables = (table, recentTables.0)
        return table
    }

    // MARK: Queue

    private func readQueue() throws(StateError) -> PendingQueue {
        try storedQueue.read(applied: try header().applied) { operation throws(StateError) in
            try subjects(of: operation, model)
        }
    }

    public func putPending(_ pending: PendingOperation) throws(StateError) {
        try queue.put(pending, about: try subjects(of: pending.operation, model))
        try queueChanged()
    }

    public func setPendingStatus(
        _ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber
    ) throws(StateError) {
        try queue.setStatus(status, since: since, of: sequence)
        try queueChanged()
    }

    public func removePending(_ sequence: SequenceNumber) throws(StateError) {
        try queue.remove(sequence)
        try queueChanged()
    }

    /// Writes a change at once if no transaction is open.
    private func queueChanged() throws(StateError) {
        if !queue.hasTransaction { try mapped { () throws(SQLiteError) in try storedQueue.flush(queue) } }
    }
}
