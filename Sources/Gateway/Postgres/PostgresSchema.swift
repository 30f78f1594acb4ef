internal import GatewayCore

/// The tables of a gateway in PostgreSQL, and their changes from version to version.
///
/// Nodes of two versions use the same tables during an update. A migration therefore only adds tables and columns with
/// defaults; `oldest` is the oldest version of the program that can use the tables.
enum PostgresSchema {
    struct Migration {
        /// The version of the tables after the migration.
        let version: Int64
        /// The oldest version that a program has to support to use the tables.
        let oldest: Int64
        let statements: String
    }

    static let migrations = [
        Migration(
            version: 1, oldest: 1,
            statements: """
                CREATE TABLE secret (only_row boolean PRIMARY KEY CHECK (only_row), value bytea NOT NULL);
                CREATE TABLE ledger (
                  endpoint text COLLATE "C" NOT NULL, dialect text COLLATE "C" NOT NULL,
                  client text COLLATE "C" NOT NULL, request text COLLATE "C" NOT NULL, day bigint NOT NULL,
                  principal bytea NOT NULL, fingerprint bytea NOT NULL, state smallint NOT NULL,
                  attempt bigint NOT NULL, lease_end bigint NOT NULL, outcome bytea,
                  PRIMARY KEY (endpoint, dialect, client, request, day));
                CREATE INDEX ledger_day ON ledger (day);
                CREATE INDEX ledger_open ON ledger (state) WHERE state <> 3;
                CREATE TABLE feed (
                  feed bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, endpoint text COLLATE "C" NOT NULL,
                  query text NOT NULL, query_digest bytea NOT NULL, shape text NOT NULL, salt bytea NOT NULL,
                  head bigint NOT NULL DEFAULT 0, head_read bigint, tokens_from bigint NOT NULL DEFAULT 0,
                  live_count bigint NOT NULL DEFAULT 0, fence bigint NOT NULL DEFAULT 0, lease_node text,
                  lease_end bigint NOT NULL DEFAULT 0, context text, version text, legacy boolean NOT NULL DEFAULT false,
                  trouble text, accepts boolean NOT NULL DEFAULT false, UNIQUE (endpoint, query_digest));
                CREATE TABLE generation (
                  feed bigint NOT NULL, generation bigint NOT NULL, made bigint NOT NULL,
                  PRIMARY KEY (feed, generation));
                CREATE TABLE item (
                  feed bigint NOT NULL, key bytea NOT NULL, since bigint NOT NULL, until bigint NOT NULL,
                  digest bytea, reason smallint, body bytea, PRIMARY KEY (feed, key, since))
                  WITH (autovacuum_vacuum_scale_factor = 0.05);
                CREATE INDEX item_since ON item (feed, since, key);
                CREATE INDEX item_removed ON item (feed, since) WHERE digest IS NULL;
                CREATE INDEX item_until ON item (feed, until) WHERE until < 9223372036854775807;
                CREATE TABLE write_mark (
                  endpoint text COLLATE "C" NOT NULL, writer bytea NOT NULL, written bigint NOT NULL,
                  PRIMARY KEY (endpoint, writer));
                CREATE INDEX write_mark_written ON write_mark (written)
                """)
    ]

    /// The newest version of the tables.
    static var version: Int64 { migrations.last?.version ?? 0 }

    /// Changes the tables to the newest version. Several nodes may call it at the same time.
    ///
    /// - Parameter isDry: Whether the changes are rolled back.
    /// - Returns: The versions that were added.
    @discardableResult
    static func migrate(
        _ connection: PostgresConnection, to migrations: [Migration] = Self.migrations, isDry: Bool = false
    ) throws(PostgresError) -> [Int64] {
        // The usual case needs no lock, and no right to create tables.
        if try pending(connection, migrations).isEmpty { return [] }
        try connection.run("BEGIN; SET LOCAL lock_timeout = 60000; SET LOCAL statement_timeout = 0")
        do throws(PostgresError) {
            try connection.run(
                "SELECT pg_advisory_xact_lock(hashtextextended('tidelog-gateway \(connection.schema)', 0))")
            try connection.run(
                """
                CREATE SCHEMA IF NOT EXISTS "\(connection.schema)";
                CREATE TABLE IF NOT EXISTS meta (
                  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), version bigint NOT NULL,
                  oldest bigint NOT NULL)
                """)
            let missing = try pending(connection, migrations)
            for migration in missing {
                try connection.run(migration.statements)
                try connection.run(
                    """
                    INSERT INTO meta (version, oldest) VALUES (\(migration.version), \(migration.oldest))
                    ON CONFLICT (only_row) DO UPDATE SET version = excluded.version, oldest = excluded.oldest
                    """)
            }
            try connection.run(isDry ? "ROLLBACK" : "COMMIT")
            return missing.map(\.version)
        } catch {
            if connection.isUsable { _ = try? connection.run("ROLLBACK") }
            throw error
        }
    }

    /// Returns the migrations that are missing.
    ///
    /// - Throws: If this program is too old for the tables.
    private static func pending(
        _ connection: PostgresConnection, _ migrations: [Migration]
    ) throws(PostgresError) -> [Migration] {
        guard try connection.run("SELECT to_regclass('meta')").text(0, 0) != nil else { return migrations }
        let rows = try connection.run("SELECT version, oldest FROM meta")
        guard let version = rows.text(0, 0).flatMap({ Int64($0) }), let oldest = rows.text(0, 1).flatMap({ Int64($0) })
        else { return migrations }
        let known = migrations.last?.version ?? 0
        guard oldest <= known else {
            throw .unexpectedResult(
                "the tables have version \(version), but this program supports version \(known): install a newer one")
        }
        return migrations.filter { $0.version > version }
    }
}
