/// The tables of every store. Those of the entity sets are derived from the metadata; see ``TableLayout``.
enum Schema {
    /// The version, stored as `user_version`. Views of another version are discarded and folded again.
    static let version: Int64 = 26

    static let statements = [
        """
        CREATE TABLE header (only INTEGER PRIMARY KEY CHECK (only = 1), store TEXT NOT NULL, applied INTEGER NOT NULL,
          next_entity INTEGER NOT NULL, next_batch INTEGER NOT NULL, root TEXT, metadata BLOB, writing TEXT,
          postponed_until INTEGER, postponed_attempt INTEGER, postponed_reason TEXT, postponed_since INTEGER,
          last_download INTEGER NOT NULL, effects_of INTEGER NOT NULL)
        """,
        "CREATE TABLE sets (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        // Runs of consecutive entity IDs.
        "CREATE TABLE entities (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, set_number INTEGER NOT NULL)",
        """
        CREATE TABLE keys (set_number INTEGER NOT NULL, key TEXT NOT NULL, entity INTEGER NOT NULL,
          PRIMARY KEY (set_number, key)) WITHOUT ROWID
        """,
        """
        CREATE TABLE bases (entity INTEGER PRIMARY KEY, origin INTEGER, downloaded INTEGER, shape INTEGER, type TEXT,
          etag TEXT, edit_link TEXT, property_values BLOB, set_name TEXT, keyless INTEGER)
        """,
        // The lists of property names, to which the column `shape` of rows refers; see `RowSchemas`.
        "CREATE TABLE shapes (id INTEGER PRIMARY KEY, names BLOB NOT NULL UNIQUE)",
        "CREATE INDEX bases_keyless ON bases (set_name) WHERE keyless = 1",
        """
        CREATE TABLE links (relationship INTEGER NOT NULL, first INTEGER NOT NULL, second INTEGER NOT NULL,
          in_base INTEGER NOT NULL, in_local INTEGER NOT NULL, PRIMARY KEY (relationship, first, second)) WITHOUT ROWID
        """,
        // The relationships that have links.
        "CREATE TABLE relationships (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        // Contains all columns that a search from the second end needs, so that it does not read each link.
        "CREATE INDEX links_by_second ON links (relationship, second, first, in_local)",
        "CREATE INDEX links_changed ON links (relationship) WHERE in_base <> in_local",
        // Read as a whole into a `QueueTable`, which is used for lookups.
        """
        CREATE TABLE pending (sequence INTEGER PRIMARY KEY, time INTEGER NOT NULL, status INTEGER NOT NULL,
          batch INTEGER, reason TEXT, http_status INTEGER, code TEXT, message TEXT, inner_error TEXT, method TEXT,
          url TEXT, request_body TEXT, attempts INTEGER, since INTEGER NOT NULL, operation BLOB NOT NULL)
        """,
        """
        CREATE TABLE undone (sequence INTEGER PRIMARY KEY, time INTEGER NOT NULL, status INTEGER NOT NULL,
          batch INTEGER, reason TEXT, http_status INTEGER, code TEXT, message TEXT, inner_error TEXT, method TEXT,
          url TEXT, request_body TEXT, attempts INTEGER, since INTEGER NOT NULL,
          operation BLOB NOT NULL, undo INTEGER NOT NULL)
        """,
        "CREATE TABLE ancestors (entity INTEGER PRIMARY KEY, state BLOB NOT NULL)",
        "CREATE TABLE streams (entity INTEGER PRIMARY KEY, state BLOB NOT NULL)",
        "CREATE TABLE events (only INTEGER PRIMARY KEY CHECK (only = 1), state BLOB NOT NULL)",
        "CREATE TABLE open_links (only INTEGER PRIMARY KEY CHECK (only = 1), state BLOB NOT NULL)",
        "CREATE TABLE quarantine (only INTEGER PRIMARY KEY CHECK (only = 1), state BLOB NOT NULL)",
        "CREATE TABLE open_batches (batch INTEGER PRIMARY KEY, content BLOB NOT NULL)",
        // The effects of all pending operations. Valid if `effects_of` in `header` is the last applied record.
        "CREATE TABLE effects (sequence INTEGER PRIMARY KEY, effect BLOB NOT NULL)",
        """
        CREATE TABLE queries (name TEXT PRIMARY KEY, position INTEGER NOT NULL, query TEXT NOT NULL,
          streams INTEGER NOT NULL, run INTEGER NOT NULL, complete INTEGER NOT NULL, delta INTEGER NOT NULL,
          delta_link TEXT, delta_link_time INTEGER, next_link TEXT, next_link_time INTEGER,
          downloaded INTEGER)
        """,
        """
        CREATE TABLE coverage (query TEXT NOT NULL, chunk INTEGER NOT NULL, run INTEGER NOT NULL, entities BLOB NOT NULL,
          PRIMARY KEY (query, chunk, run)) WITHOUT ROWID
        """,
        "CREATE INDEX coverage_by_run ON coverage (query, run)",
    ]

    /// Creates the tables.
    ///
    /// - Parameter isReplacing: Whether the file has tables of another version, which is an error.
    static func create(_ connection: Connection, _ store: String, replacing isReplacing: Bool) throws(SQLiteError) {
        guard !isReplacing else {
            throw SQLiteError(code: 26, message: "the views have another version", sql: nil)
        }
        try connection.execute("BEGIN IMMEDIATE")
        for statement in statements { try connection.execute(statement) }
        try connection.run(
            "INSERT INTO header VALUES (1, ?, 0, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0)", [.text(store)])
        try connection.execute("PRAGMA user_version = \(version)")
        try connection.execute("COMMIT")
    }
}
