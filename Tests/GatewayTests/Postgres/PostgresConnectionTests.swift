import Foundation
import GatewayCore
import Synchronization
import Testing

@testable import Gateway

/// The connection to PostgreSQL, its pool and its errors.
@Suite(.enabled(if: PostgresServer.isInstalled, "skipped: PostgreSQL is not installed"))
struct PostgresConnectionTests {
    @Test func `values of every type are sent and received without loss`() throws {
        let connection = try PostgresConnection(PostgresServer.fresh())
        let bytes = (0...255).map { UInt8($0) }
        let rows = try connection.query(
            "SELECT $1, $2, $3, $4, $5, $6, $7, $8, 7::smallint, (-7)::integer",
            [
                .integer(.min), .text("ä𝄞'\"\\"), .bytes(bytes), .flag(true), .integer(nil), .text(nil), .bytes(nil),
                .bytes([]),
            ])
        #expect(rows.count == 1)
        #expect(rows.integer(0, 0) == .min && rows.text(0, 1) == "ä𝄞'\"\\" && rows.blob(0, 2) == bytes)
        #expect(rows.integer(0, 3) == 1 && (4...6).allSatisfy { rows.isNull(0, $0) } && rows.blob(0, 7) == [])
        #expect(rows.integer(0, 8) == 7 && rows.integer(0, 9) == -7)
        #expect(rows.integer(0, 10) == nil && rows.integer(1, 0) == nil, "outside of the result")
        #expect(rows.integer(0, 2) == nil, "no integer")
    }

    @Test func `arrays are sent without loss, also empty ones`() throws {
        let connection = try PostgresConnection(PostgresServer.fresh())
        let statement = "SELECT * FROM unnest($1, $2, $3) AS t (i, t, b)"
        let values: [PostgresValue] = [
            .integers([1, nil, .max]), .texts(["", "ü", nil]), .byteStrings([nil, [], [0, 255]]),
        ]
        let rows = try connection.query(statement, values)
        #expect((0..<3).map { rows.integer($0, 0) } == [1, nil, .max])
        #expect((0..<3).map { rows.text($0, 1) } == ["", "ü", nil])
        #expect((0..<3).map { rows.blob($0, 2) } == [nil, [], [0, 255]])
        #expect(try connection.query(statement, [.integers([]), .texts([]), .byteStrings([])]).count == 0)
        let large = [UInt8](repeating: 7, count: 20 << 20)
        #expect(try connection.query("SELECT $1", [.bytes(large)]).blob(0, 0) == large)
    }

    @Test func `an error of a statement has its SQLSTATE, and the connection can be used afterwards`() throws {
        let connection = try PostgresConnection(PostgresServer.fresh())
        let error = #expect(throws: PostgresError.self) { _ = try connection.query("SELECT * FROM no_such_table") }
        guard case .server(.undefinedTable, let message) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message.contains("no_such_table") && error?.endsConnection == false && error?.isTransient == false)
        #expect(connection.isUsable)
        #expect(try connection.query("SELECT 1::bigint").integer(0, 0) == 1)
    }

    @Test func `commits are durable, whatever the configuration of the server`() throws {
        var settings = try PostgresServer.fresh()
        settings.parameters += "&options=-csynchronous_commit%3Doff"
        let connection = try PostgresConnection(settings)
        #expect(try connection.run("SHOW synchronous_commit").text(0, 0) == "on")
    }

    @Test func `a statement that takes too long is cancelled by the server`() throws {
        var settings = try PostgresServer.fresh()
        settings.timeoutMilliseconds = 200
        let connection = try PostgresConnection(settings)
        let error = #expect(throws: PostgresError.self) { _ = try connection.query("SELECT pg_sleep(30)") }
        guard case .server(.queryCanceled, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(connection.isUsable)
    }

    @Test func `a server that stops to respond is given up`() throws {
        var settings = try PostgresServer.fresh()
        settings.timeoutMilliseconds = 200
        let connection = try PostgresConnection(settings)
        let process = pid_t(try connection.query("SELECT pg_backend_pid()").integer(0, 0) ?? 0)
        kill(process, SIGSTOP)
        defer { kill(process, SIGCONT) }
        let start = ContinuousClock.now
        let error = #expect(throws: PostgresError.self) { _ = try connection.query("SELECT 1::bigint") }
        #expect(error == .timeout && !connection.isUsable)
        #expect(start.duration(to: .now) < .seconds(10))
    }

    @Test func `an unreachable server is an error with a remedy`() async throws {
        let settings = PostgresSettings("postgresql:///postgres?host=/nonexistent&user=gateway")
        let error = await #expect(throws: LedgerStorageError.self) {
            _ = try await PostgresLedgerStorage.migrate(settings, isDry: true)
        }
        #expect(error?.description.contains("/nonexistent") == true, "\(String(describing: error))")
        #expect(error?.description.contains("Check host, port") == true)
    }

    @Test func `a transaction that fails has no effect, and is executed again after a lost connection`() async throws {
        let pool = PostgresPool(try PostgresServer.fresh())
        let schema = pool.settings.schema
        try await pool.perform(patience: .zero) { (connection) throws(PostgresError) in
            _ = try connection.run("CREATE SCHEMA \(schema); CREATE TABLE t (v bigint PRIMARY KEY)")
        }
        await #expect(throws: PostgresError.self) {
            try await pool.transaction(patience: .seconds(5)) { (transaction) throws(PostgresError) in
                _ = try transaction.query("INSERT INTO t (v) VALUES (1)")
                _ = try transaction.query("INSERT INTO t (v) VALUES (1)")
            }
        }
        let attempts = Locked(0)
        try await pool.transaction(patience: .seconds(5)) { (transaction) throws(PostgresError) in
            _ = try transaction.query("INSERT INTO t (v) VALUES (1)")
            let attempt = attempts.withLock { count in
                count += 1
                return count
            }
            if attempt < 3 {
                _ = try transaction.query("SELECT pg_terminate_backend(pg_backend_pid())")
            }
        }
        #expect(attempts.withLock { $0 } == 3)
        let count = try await pool.perform(patience: .zero) { (connection) throws(PostgresError) in
            try connection.query("SELECT count(*) FROM t").integer(0, 0)
        }
        #expect(count == 1)
    }

    /// A trigger ends the connection during the commit, so that its result is unknown.
    @Test func `a commit whose response is lost is repeated only if the transaction may be repeated`() async throws {
        let pool = PostgresPool(try PostgresServer.fresh())
        let schema = pool.settings.schema
        try await pool.perform(patience: .zero) { (connection) throws(PostgresError) in
            _ = try connection.run(
                """
                CREATE SCHEMA \(schema); CREATE TABLE t (v bigint); CREATE SEQUENCE attempts;
                CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  IF nextval('attempts') % 2 = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
                  RETURN NULL; END $$;
                CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED
                  FOR EACH ROW EXECUTE FUNCTION cut()
                """)
        }
        let insert: @Sendable (PostgresTransaction) throws(PostgresError) -> Void = {
            (transaction) throws(PostgresError) in
            _ = try transaction.query("INSERT INTO t (v) VALUES (1)")
        }
        let error = await #expect(throws: PostgresError.self) {
            try await pool.transaction(patience: .seconds(5), isRepeatable: false, insert)
        }
        #expect(error?.description.contains("while a transaction was committed") == true)
        _ = try await pool.perform(patience: .zero) { (connection) throws(PostgresError) in
            try connection.query("SELECT nextval('attempts')").count
        }
        try await pool.transaction(patience: .seconds(5), insert)
        let count = try await pool.perform(patience: .zero) { (connection) throws(PostgresError) in
            try connection.query("SELECT count(*) FROM t").integer(0, 0)
        }
        #expect(count == 1)
    }

    @Test func `more requests than connections wait for their turn, without blocking other tasks`() async throws {
        var settings = try PostgresServer.fresh()
        settings.connections = 2
        let pool = PostgresPool(settings)
        let sum = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in Int64(1)...100 {
                group.addTask {
                    try await pool.perform(patience: .zero) { (connection) throws(PostgresError) in
                        try connection.query("SELECT $1, pg_sleep(0.005)", [.integer(number)]).integer(0, 0) ?? 0
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 5_050)
    }
}
