import GatewayCore
import Testing

@testable import Gateway

/// The tables in PostgreSQL and their migrations.
@Suite(.enabled(if: PostgresServer.isInstalled, "skipped: PostgreSQL is not installed"))
struct PostgresSchemaTests {
    private static let next = PostgresSchema.Migration(
        version: PostgresSchema.version + 1, oldest: 1, statements: "ALTER TABLE feed ADD COLUMN added bigint")
    private static let breaking = PostgresSchema.Migration(
        version: PostgresSchema.version + 2, oldest: PostgresSchema.version + 2,
        statements: "ALTER TABLE feed DROP COLUMN added")

    @Test func `nodes that start at the same time make each migration once`() async throws {
        let settings = try PostgresServer.fresh()
        let versions = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for _ in 0..<6 {
                group.addTask { try await PostgresLedgerStorage.migrate(settings, isDry: false) }
            }
            return try await group.reduce([], +)
        }
        #expect(versions == PostgresSchema.migrations.map(\.version))
    }

    @Test func `the server has statistics of a large publication at once`() async throws {
        let settings = try PostgresServer.fresh()
        let storage = try await PostgresFeedStorage(settings, now: { 1_000_000 })
        let feed = try await storage.feed(FeedIdentity(endpoint: "shop", query: "Orders", shape: "1")).id
        let lease = try #require(try await storage.claim(feed, node: "a").lease)
        let changes = (0..<10_000).map {
            FeedChange.row(FeedRow(key: "(\($0))", digest: RowDigest([1]), body: [1]))
        }
        let description = FeedDescription(context: "c", version: "4.0", isLegacy: false)
        _ = try #require(try await storage.publish(lease, changes, description))
        let connection = try PostgresConnection(settings)
        let known = try connection.run("SELECT reltuples::bigint FROM pg_class WHERE oid = 'item'::regclass")
        // An estimate; -1 without statistics.
        #expect(try #require(known.integer(0, 0)) > 5_000)
    }

    @Test func `a dry run lists the migrations and leaves nothing`() async throws {
        let settings = try PostgresServer.fresh()
        #expect(try await !PostgresLedgerStorage.migrate(settings, isDry: true).isEmpty)
        #expect(try await !PostgresLedgerStorage.migrate(settings, isDry: false).isEmpty)
        #expect(try await PostgresLedgerStorage.migrate(settings, isDry: true).isEmpty)
    }

    @Test func `a migration that fails leaves the version before`() throws {
        let connection = try PostgresConnection(PostgresServer.fresh())
        try PostgresSchema.migrate(connection)
        let broken = PostgresSchema.Migration(
            version: PostgresSchema.version + 1, oldest: 1, statements: "CREATE TABLE x (v bigint); SELECT 1/0")
        #expect(throws: PostgresError.self) {
            _ = try PostgresSchema.migrate(connection, to: PostgresSchema.migrations + [broken])
        }
        #expect(try connection.run("SELECT to_regclass('x')").text(0, 0) == nil)
        #expect(try PostgresSchema.migrate(connection) == [])
    }

    @Test func `an older program uses the tables of the next version, unless they exclude it`() async throws {
        let settings = try PostgresServer.fresh()
        let connection = try PostgresConnection(settings)
        try PostgresSchema.migrate(connection)
        let storage = try await PostgresFeedStorage(settings)
        _ = try await storage.feed(FeedIdentity(endpoint: "e", query: "q", shape: "s"))
        #expect(
            try PostgresSchema.migrate(connection, to: PostgresSchema.migrations + [Self.next]) == [Self.next.version])
        #expect(try await storage.list().count == 1, "a node that is running")
        #expect(try await PostgresFeedStorage(settings).list().count == 1, "a node that starts")
        _ = try PostgresSchema.migrate(connection, to: PostgresSchema.migrations + [Self.next, Self.breaking])
        let error = await #expect(throws: LedgerStorageError.self) { _ = try await PostgresFeedStorage(settings) }
        #expect(error?.description.contains("install a newer one") == true, "\(String(describing: error))")
    }

    @Test func `a user without the right to create tables gets a remedy, and may use tables that exist`() async throws {
        var settings = try PostgresServer.fresh()
        let owner = try PostgresConnection(settings)
        let role = "u\(settings.schema)"
        try owner.run("CREATE ROLE \(role) LOGIN")
        let (original, schema) = (settings, settings.schema)
        settings.parameters = settings.parameters.replacing("user=gateway", with: "user=\(role)")
        let limited = settings
        let error = await #expect(throws: LedgerStorageError.self) { _ = try await PostgresLedgerStorage(limited) }
        #expect(error?.description.contains("Grant the user CREATE") == true, "\(String(describing: error))")
        _ = try await PostgresLedgerStorage.migrate(original, isDry: false)
        try owner.run(
            """
            GRANT USAGE ON SCHEMA \(schema) TO \(role);
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role)
            """)
        #expect(try await PostgresLedgerStorage(limited).secret().count == 32)
    }
}
