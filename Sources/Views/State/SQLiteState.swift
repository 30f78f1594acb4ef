public import EDM
import Operations
public import SyncCore

/// The state in SQLite: a table per entity set with typed columns, a links table, and what else the fold keeps.
///
/// The file is derived: it holds nothing that the log does not, and may be deleted at any time. Beside its columns each row
/// has its values in the log's own binary form, so that unset and null, trailing zeros and offsets survive; their names are in
/// a table of their own, once for all rows that have the same.
///
/// Not `Sendable`: it belongs to one actor, one call at a time.
public final class SQLiteState: StateBacking {
    package let connection: Connection
    var layouts: [String: TableLayout] = [:]
    /// By set, for those that were written or read.
    private var tables: [String: SetTable] = [:]
    /// The two of them that were asked for last.
    private var recentTables: (SetTable?, SetTable?)
    let statements = FoldStatements()
    /// Relationships that have, or had, links.
    let relationships: NumberedNames
    /// Sets that have, or had, entities, and key maps.
    let sets: NumberedNames
    let entities: EntityRuns
    let coverage: Coverage
    private let headerRow: HeaderRow
    /// The same names stand in each row and each operation.
    let names = NameTable()
    /// The numbers of the names of rows' values.
    var shapes = Shapes()
    public package(set) var model: EntityDataModel?
    /// By set; nil for a set that has no such way. See ``row(in:key:)``.
    var pointReads: [String: PointRead?] = [:]
    /// Compiled statements of queries over sets.
    var selections: [SelectionKey: SQLText] = [:]
    /// Statements for what is linked to one entity.
    var reachedTexts: [ReachedForm: String] = [:]
    /// How often a model came to hold.
    private var adoptions = 0
    /// What ``hasNames()`` found, and when.
    var namesSeen: (applied: SequenceNumber, any: Bool)?
    public let queue = QueueTable()
    /// Whether an answer depends on which download was the last; see ``takeReadTables()``.
    var readsLastDownload = false

    /// Opens the views at `path`, and makes them where there are none or where they are of another version.
    ///
    /// Throws ``StateError`` with `damaged` where the file is no readable database: delete it and open again.
    /// - Parameters:
    ///   - path: nil keeps the views in memory, all of them, and no file of any kind is made.
    ///   - key: encrypts the file; nil for a plain one. A file with another key, or without one, is `damaged`.
    ///   - store: the store's identifier, as the log has it; views of another store are `damaged`.
    ///   - boot: names the run of the operating system. Views that an earlier one was writing when it ended are `damaged`:
    ///     they are never synced while they are written, so nobody knows what of them came to the disk. Nil does not look.
    ///   - isUnchanging: whether nobody writes the file meanwhile; see ``Connection``.
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
            relationships = NumberedNames("relationships", connection)
            sets = NumberedNames("sets", connection)
            entities = EntityRuns(connection, sets: sets)
            coverage = Coverage(connection)
            headerRow = HeaderRow(connection)
            try connection.registerDecimalCollation()
            try connection.registerSortKey()
            try connection.registerStanding(of: queue)
            // Derived files need no sync of their own: after a crash of the machine they are checked and rebuilt.
            if !readOnly {
                try connection.useWriteAheadLog()
                try connection.execute("PRAGMA synchronous = OFF")
            }
            // Otherwise a large sort writes rows into a temporary file.
            if path == nil { try connection.execute("PRAGMA temp_store = MEMORY") }
            // Not mapped: SQLite reads a little past a page that is damaged, and past the end of a mapping there is nothing.
            try connection.execute("PRAGMA mmap_size = 0; PRAGMA cache_size = -32768; PRAGMA foreign_keys = OFF")
            let version = try connection.first("PRAGMA user_version")?.first?.integer ?? 0
            if version != Schema.version, !readOnly { try Self.create(connection, store, replacing: version != 0) }
        } catch {
            throw Self.stateError(error)
        }
        if !readOnly { try Self.check(connection.firstWrongSealedPage(limit: Self.bytesCheckedAtOpening / 4)) }
        guard try first("SELECT store FROM header")?.first?.text == store else {
            throw StateError(.damaged, "The views belong to another store.")
        }
        if let boot, let writing = try first("SELECT writing FROM header")?.first?.text {
            guard writing == boot else {
                throw StateError(.damaged, "The machine stopped while the views were written.")
            }
            isMarked = true
        }
        queue.loader = { [unowned self] () throws(StateError) in try readQueue() }
        if let service = try header().service, let model = try? CSDLReader.read(service.metadata) { adopt(model) }
    }

    /// The pages of a file up to this size are all checked when it is opened, which takes some milliseconds; of an encrypted one,
    /// where it takes longer, a quarter. Those behind are checked when they are read.
    private static let bytesCheckedAtOpening = 16 << 20

    private static func check(_ wrongPage: Int?) throws(StateError) {
        guard let page = wrongPage else { return }
        throw StateError(.damaged, "Page \(page) of the views is not as it was written.")
    }

    private static func create(_ connection: Connection, _ store: String, replacing: Bool) throws(SQLiteError) {
        guard !replacing else {
            throw SQLiteError(code: 26, message: "the views are of another version", sql: nil)
        }
        try connection.execute("BEGIN IMMEDIATE")
        for statement in Schema.statements { try connection.execute(statement) }
        try connection.run(
            "INSERT INTO header VALUES (1, ?, 0, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0)", [.text(store)])
        try connection.execute("PRAGMA user_version = \(Schema.version)")
        try connection.execute("COMMIT")
    }

    /// Gives the file free; the state cannot be used any more.
    public func close() {
        // What is not committed is folded again from the log.
        try? commitGathered()
        // Nobody has changed them where the file does not say that it is being written.
        if !isReadOnly, isMarked || boot == nil {
            try? connection.transaction { () throws(SQLiteError) in try writeEffects() }
        }
        // Without it the next open in another run of the system makes the views again, and that is all.
        try? endWriting()
        headerRow.forget()
        connection.close()
    }

    /// Runs `body` in one transaction: all of it happens, or nothing. What was gathered is committed first.
    public func transaction<T>(_ body: () throws -> T) throws -> T {
        try commitGathered()
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
            forgetWhatWasTakenBack()
            if adoptions != adopted {
                // Those of tables that are as they were before.
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
        (error as? SQLiteError).map(stateError) ?? error
    }

    private func forgetWhatWasTakenBack() {
        headerRow.forget()
        relationships.forget()
        sets.forget()
        entities.forget()
        coverage.forget()
        shapes = Shapes()
        for table in tables.values {
            table.forgetFound()
            table.forgetPlans()
        }
        namesSeen = nil
        queue.rollBack()
    }

    /// Whether the one who asks is the fold, or another one that changes the state: nobody else does so meanwhile.
    private(set) var isWriting = false

    private func writing<T>(_ body: () throws -> T) rethrows -> T {
        isWriting = true
        defer { isWriting = false }
        return try body()
    }

    /// Writes what a transaction has kept in memory until its end.
    func flush() throws(SQLiteError) {
        try headerRow.flush()
        try entities.flush()
        try coverage.flush()
        try flushQueue()
    }

    // MARK: Gathering

    /// Whether a transaction is open that the next call of ``gathering(_:)`` joins.
    private var isGathering = false

    /// Runs `body` in a transaction that further calls join, until ``commitGathered()``. What it did is seen here at once; the
    /// file has it with the commit, and each page of the file that all of them changed is written once.
    ///
    /// Where `body` fails, all that was gathered is taken back, not only its own part: that has to be had again from elsewhere.
    /// It may not install a model.
    public func gathering<T>(_ body: () throws -> T) throws -> T {
        try beginWriting()
        do {
            if !isGathering {
                try connection.begin()
                queue.begin()
                isGathering = true
            }
            return try writing(body)
        } catch {
            endGathering()
            forgetWhatWasTakenBack()
            throw Self.ofState(error)
        }
    }

    /// Commits what was gathered, if something was. Where that fails it is all taken back.
    public func commitGathered() throws(StateError) {
        guard isGathering else { return }
        defer { endGathering() }
        do throws(SQLiteError) {
            try flush()
            try connection.commit()
            queue.commit()
        } catch {
            forgetWhatWasTakenBack()
            throw Self.stateError(error)
        }
    }

    /// Takes back what is not committed.
    private func endGathering() {
        isGathering = false
        connection.rollBack()
    }

    /// Runs `body`, which changes nothing, as one read, for many small queries in a row.
    public func reading<T>(_ body: () throws -> T) throws -> T { try connection.reading(body) }

    // MARK: Crashes of the machine

    private let boot: String?
    private let isReadOnly: Bool
    /// Whether the file says that it is being written.
    private var isMarked = false

    /// Says in the file, durably and before anything else changes, that it is being written.
    private func beginWriting() throws(StateError) {
        guard let boot, !isMarked else { return }
        try setWriting(.text(boot))
        isMarked = true
    }

    /// Makes the file durable, and only then says in it that it is complete.
    private func endWriting() throws(StateError) {
        guard isMarked, let boot else { return }
        try setWriting(.text(boot))
        try setWriting(.null)
        isMarked = false
    }

    /// Everything that was written before is durable with it: a checkpoint syncs the whole file when it has a page to write.
    private func setWriting(_ boot: SQLValue) throws(StateError) {
        do throws(SQLiteError) {
            try connection.execute("PRAGMA synchronous = FULL")
            try connection.run("UPDATE header SET writing = ?", [boot])
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA synchronous = OFF")
        } catch {
            try? connection.execute("PRAGMA synchronous = OFF")
            throw Self.stateError(error)
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

    /// Knows the tables of a model that was installed before.
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

    // Entity IDs and sequence numbers are counted up from 1 and never reach the sign bit.
    func integer(_ value: UInt64) -> SQLValue { .integer(Int64(bitPattern: value)) }
    func integer(_ id: EntityID) -> SQLValue { integer(id.rawValue) }
    func unsigned(_ value: Int64?) -> UInt64 { UInt64(bitPattern: value ?? 0) }
}
