internal import GatewayCore
internal import Views

/// The tables of the feeds in two SQLite files: the rows, and the times of the changes of users next to them.
///
/// Either file may be deleted while no process uses it. Without the rows, clients read everything again; without the
/// times, each feed is read again before it answers.
enum SQLiteFeedSchema {
    static let version: Int64 = 2
    static let marksVersion: Int64 = 1

    /// Returns the path of the file with the times of the changes of users.
    static func marksPath(_ path: String) -> String { path + "-marks" }

    /// Creates the files and the tables, or updates them.
    static func prepare(_ path: String) throws {
        let feeds = try open(path)
        let marks = try open(marksPath(path))
        let found = try number("PRAGMA user_version", feeds)
        if try number("PRAGMA user_version", marks) != marksVersion {
            // Only the times know which readings lack a change of their user.
            if found == version { try feeds.run("UPDATE feed SET head_read = NULL") }
            try marks.transaction { () throws(SQLiteError) in try marks.execute(tableOfMarks) }
        }
        switch found {
        case version: return
        case 1:
            try move(from: feeds, to: marks)
            try feeds.transaction { () throws(SQLiteError) in
                try feeds.execute("DROP TABLE write_mark; PRAGMA user_version = \(version)")
            }
        // Feeds of another version are read anew.
        default: try feeds.transaction { () throws(SQLiteError) in try feeds.execute(tables) }
        }
    }

    /// Opens a file whose transactions are synced.
    static func open(_ path: String) throws(SQLiteError) -> Connection {
        let connection = try Connection(path: path)
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        return connection
    }

    /// Returns the numbers of the feeds that were removed while some of their rows remained. O(feeds · log rows).
    static func orphans(_ connection: Connection) throws(SQLiteError) -> Set<Int64> {
        var found: Set<Int64> = []
        var feed = Int64.min
        while let next = try connection.first("SELECT min(feed) FROM item WHERE feed > ?", [.integer(feed)])?[0].integer
        {
            feed = next
            if try connection.first("SELECT 1 FROM feed WHERE feed = ?", [.integer(feed)]) == nil { found.insert(feed) }
        }
        return found
    }

    /// Moves the times from the file with the rows, which contained them in version 1.
    private static func move(from feeds: Connection, to marks: Connection) throws {
        var known: [[SQLValue]] = []
        try feeds.query("SELECT endpoint, user, written FROM write_mark") { known.append([$0[0], $0[1], $0[2]]) }
        try marks.transaction { () throws(SQLiteError) in
            for values in known {
                try marks.run(
                    """
                    INSERT INTO write_mark (endpoint, user, written) VALUES (?, ?, ?)
                    ON CONFLICT (endpoint, user) DO UPDATE SET written = max(written, excluded.written)
                    """, values)
            }
        }
    }

    private static func number(_ sql: String, _ connection: Connection) throws(SQLiteError) -> Int64 {
        try connection.first(sql)?[0].integer ?? 0
    }

    private static let tableOfMarks = """
        DROP TABLE IF EXISTS write_mark;
        CREATE TABLE write_mark (
          endpoint TEXT NOT NULL, user BLOB NOT NULL, written INTEGER NOT NULL,
          PRIMARY KEY (endpoint, user)) STRICT, WITHOUT ROWID;
        PRAGMA user_version = \(marksVersion)
        """

    private static let tables = """
        DROP TABLE IF EXISTS item; DROP TABLE IF EXISTS generation; DROP TABLE IF EXISTS feed;
        DROP TABLE IF EXISTS write_mark;
        CREATE TABLE feed (
          feed INTEGER PRIMARY KEY AUTOINCREMENT, endpoint TEXT NOT NULL, query TEXT NOT NULL,
          shape TEXT NOT NULL, salt BLOB NOT NULL, head INTEGER NOT NULL, head_read INTEGER,
          tokens_from INTEGER NOT NULL, live_count INTEGER NOT NULL, fence INTEGER NOT NULL, context TEXT,
          version TEXT, legacy INTEGER NOT NULL, trouble TEXT, accepts INTEGER NOT NULL,
          UNIQUE (endpoint, query)) STRICT;
        CREATE TABLE generation (
          feed INTEGER NOT NULL, generation INTEGER NOT NULL, made INTEGER NOT NULL,
          PRIMARY KEY (feed, generation)) STRICT, WITHOUT ROWID;
        CREATE TABLE item (
          feed INTEGER NOT NULL, key TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER NOT NULL,
          digest BLOB, reason INTEGER, body BLOB,
          PRIMARY KEY (feed, key, since)) STRICT, WITHOUT ROWID;
        CREATE INDEX item_since ON item (feed, since, key);
        CREATE INDEX item_removed ON item (feed, since) WHERE digest IS NULL;
        CREATE INDEX item_until ON item (feed, until) WHERE until < 9223372036854775807;
        PRAGMA user_version = \(version)
        """
}
