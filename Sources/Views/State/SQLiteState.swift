public import EDM
public import Operations
public import SyncCore

/// The state in SQLite: a table per entity set with typed columns, a links table, and what else the fold keeps.
///
/// The file is derived: it holds nothing that the log does not, and may be deleted at any time. Beside its columns each row
/// has its values in the log's own binary form, so that unset and null, trailing zeros and offsets survive.
///
/// Not `Sendable`: it belongs to one actor, one call at a time.
public final class SQLiteState: StateStorage {
    package let connection: Connection
    var layouts: [String: TableLayout] = [:]
    package var model: EntityDataModel?

    /// Opens the views at `path`, and makes them where there are none or where they are of another version.
    ///
    /// Throws ``StateError`` with `damaged` where the file is no readable database: delete it and open again.
    public init(path: String, readOnly: Bool = false) throws(StateError) {
        do {
            connection = try Connection(path: path, readOnly: readOnly)
            try connection.registerDecimalCollation()
            // Derived files need no sync of their own: after a crash of the machine they are checked and rebuilt.
            if !readOnly { try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF") }
            try connection.execute("PRAGMA cache_size = -32768; PRAGMA mmap_size = 268435456; PRAGMA foreign_keys = OFF")
            let version = try connection.first("PRAGMA user_version")?.first?.integer ?? 0
            if version != Schema.version, !readOnly { try Self.create(connection, replacing: version != 0) }
        } catch {
            throw Self.stateError(error)
        }
    }

    private static func create(_ connection: Connection, replacing: Bool) throws(SQLiteError) {
        guard !replacing else {
            throw SQLiteError(code: 26, message: "the views are of another version", sql: nil)
        }
        try connection.execute("BEGIN IMMEDIATE")
        for statement in Schema.statements { try connection.execute(statement) }
        try connection.execute("PRAGMA user_version = \(Schema.version)")
        try connection.execute("COMMIT")
    }

    /// Runs `body` in one transaction: all of it happens, or nothing.
    public func transaction<T>(_ body: () throws -> T) throws -> T { try connection.transaction(body) }

    // MARK: Errors

    static func stateError(_ error: SQLiteError) -> StateError {
        // 11 is SQLITE_CORRUPT, 26 SQLITE_NOTADB, 1 SQLITE_ERROR: a table that should be there is not.
        switch error.code {
        case 1, 11, 26: StateError(.damaged, "The views cannot be read: \(error)")
        default: StateError(.unavailable, "The views are not available: \(error)")
        }
    }

    func run(_ sql: String, _ values: [SQLValue] = []) throws(StateError) {
        do throws(SQLiteError) { try connection.run(sql, values) } catch { throw Self.stateError(error) }
    }

    func first(_ sql: String, _ values: [SQLValue] = []) throws(StateError) -> [SQLValue]? {
        do throws(SQLiteError) { return try connection.first(sql, values) } catch { throw Self.stateError(error) }
    }

    func list<T>(_ sql: String, _ values: [SQLValue] = [], _ read: (Row) -> T) throws(StateError) -> [T] {
        var found: [T] = []
        do throws(SQLiteError) {
            try connection.query(sql, values) { row in found.append(read(row)) }
        } catch {
            throw Self.stateError(error)
        }
        return found
    }

    // MARK: Header

    public func header() throws(StateError) -> StateHeader {
        guard
            let row = try first("SELECT applied, next_entity, next_batch, root, metadata FROM header"), row.count == 5
        else { throw StateError(.damaged, "The views have no header.") }
        let service = row[3].text.map { ServiceDescription(root: $0, metadata: row[4].blob ?? []) }
        return StateHeader(
            applied: unsigned(row[0].integer), nextEntity: EntityID(rawValue: unsigned(row[1].integer)),
            nextBatch: unsigned(row[2].integer), service: service)
    }

    public func setHeader(_ header: StateHeader) throws(StateError) {
        try run(
            "UPDATE header SET applied = ?, next_entity = ?, next_batch = ?",
            [integer(header.applied), integer(header.nextEntity.rawValue), integer(header.nextBatch)])
        // The metadata may be megabytes; it is written when it changes only.
        if let service = header.service, try serviceDiffers(service) {
            try run("UPDATE header SET root = ?, metadata = ?", [.text(service.root), .blob(service.metadata)])
        }
    }

    private func serviceDiffers(_ service: ServiceDescription) throws(StateError) -> Bool {
        if installedService == service { return false }
        installedService = service
        return true
    }

    private var installedService: ServiceDescription?

    // MARK: Model

    public func install(_ model: EntityDataModel) throws(StateError) {
        connection.forgetStatements()
        let previous = try list("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'set\\_%' ESCAPE '\\'") {
            $0.text(0) ?? ""
        }
        guard previous.isEmpty else {
            throw StateError(.damaged, "The metadata changed: the views are to be folded again.")
        }
        adopt(model)
        let index = RelationshipIndex(model)
        for set in model.entitySets + model.singletons {
            guard let layout = layouts[set.name] else { continue }
            for statement in layout.createStatements { try run(statement) }
            var searched = [set.entityType.keyProperties.map(\.name)]
            searched += index.constraints(ofDependentsIn: set.name).map { $0.pairs.map(\.dependent) }
            searched += index.constraints(ofPrincipalsIn: set.name).map { $0.pairs.map(\.principal) }
            var indexed: Set<[String]> = []
            for properties in searched where indexed.insert(properties).inserted {
                if let statement = layout.createIndex(over: properties, number: indexed.count) { try run(statement) }
            }
        }
        connection.forgetStatements()
    }

    /// Knows the tables of a model that was installed before.
    package func adopt(_ model: EntityDataModel) {
        self.model = model
        var ordinals: [String: Int] = [:]
        layouts = [:]
        for set in model.entitySets + model.singletons where layouts[set.name] == nil {
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

    // Entity IDs and sequence numbers are counted up from 1 and never reach the sign bit.
    func integer(_ value: UInt64) -> SQLValue { .integer(Int64(bitPattern: value)) }
    func integer(_ id: EntityID) -> SQLValue { integer(id.rawValue) }
    func unsigned(_ value: Int64?) -> UInt64 { UInt64(bitPattern: value ?? 0) }
}
