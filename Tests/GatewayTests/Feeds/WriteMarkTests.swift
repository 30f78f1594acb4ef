import Gateway
import GatewayCore
import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Transport
import Views

/// Uploads in the ledger mark their user as a writer, while the ledger is asked and while the outcome is recorded.
struct WriteMarkTests {
    @Test func `an upload whose mark cannot be written is not sent, and its repetition is executed`() async throws {
        try await withWriter { gateway, origin, marks in
            try marks.execute(
                "CREATE TRIGGER full BEFORE INSERT ON write_mark BEGIN SELECT RAISE(ABORT, 'full'); END")
            #expect(try await post(gateway) == 503)
            #expect(origin.requests.isEmpty)
            try marks.execute("DROP TRIGGER full")
            #expect(try await post(gateway) == 201)
            #expect(origin.requests.count == 1)
        }
    }

    @Test func `an upload is marked before it is sent and after its response`() async throws {
        try await withWriter { gateway, _, marks in
            try marks.execute(
                """
                CREATE TABLE marks (count INTEGER);
                CREATE TRIGGER marked AFTER INSERT ON write_mark BEGIN INSERT INTO marks VALUES (1); END
                """)
            #expect(try await post(gateway) == 201)
            #expect(try marks.first("SELECT count(*) FROM marks")?[0].integer == 2)
        }
    }

    @Test func `an upload whose mark is lost after its response is in doubt, and its repetition gets the outcome`()
        async throws
    {
        try await withWriter { gateway, origin, feeds in
            try feeds.execute(
                """
                CREATE TABLE marks (count INTEGER);
                CREATE TRIGGER marked AFTER INSERT ON write_mark BEGIN INSERT INTO marks VALUES (1); END;
                CREATE TRIGGER full BEFORE INSERT ON write_mark WHEN (SELECT count(*) FROM marks) > 0
                BEGIN SELECT RAISE(ABORT, 'full'); END
                """)
            #expect(try await post(gateway) == 504)
            try feeds.execute("DROP TRIGGER full")
            #expect(try await post(gateway) == 201)
            #expect(origin.requests.count == 1)
        }
    }

    @Test func `if neither the ledger nor the marks can be written, the upload is not sent, and can be repeated`()
        async throws
    {
        let storage = FailingLedger()
        try await withWriter(storage) { gateway, origin, feeds in
            try feeds.execute(
                "CREATE TRIGGER full BEFORE INSERT ON write_mark BEGIN SELECT RAISE(ABORT, 'full'); END")
            storage.fails.withLock { $0 = true }
            #expect(try await post(gateway) == 504)
            #expect(origin.requests.isEmpty)
            storage.fails.withLock { $0 = false }
            try feeds.execute("DROP TRIGGER full")
            #expect(try await post(gateway) == 201)
        }
    }

    @Test func `a repetition that the ledger cannot look up is no 503, after which a client sends the change anew`()
        async throws
    {
        let storage = FailingLedger()
        try await withWriter(storage) { gateway, origin, _ in
            let first = try await post(gateway)
            storage.fails.withLock { $0 = true }
            let second = try await post(gateway)
            storage.fails.withLock { $0 = false }
            let third = try await post(gateway)
            #expect([first, second, third] == [201, 504, 201])
            #expect(origin.requests.count == 1)
        }
    }

    @Test func `a repetition whose first mark cannot be written is no 503, although nothing is sent`() async throws {
        try await withWriter { gateway, origin, marks in
            #expect(try await post(gateway) == 201)
            try marks.execute(
                """
                CREATE TABLE failure (count INTEGER);
                INSERT INTO failure VALUES (1);
                CREATE TRIGGER full BEFORE INSERT ON write_mark WHEN (SELECT count FROM failure) > 0
                BEGIN UPDATE failure SET count = 0; SELECT RAISE(FAIL, 'full'); END
                """)
            #expect(try await post(gateway) == 504)
            #expect(try await post(gateway) == 201)
            #expect(origin.requests.count == 1)
        }
    }

    private func withWriter(
        _ storage: any LedgerStorage = MemoryLedgerStorage(),
        _ body: (GatewayUnderTest, LoopbackServer, Connection) async throws -> Void
    ) async throws {
        let folder = TemporaryDirectory()
        let path = folder.path + "/feeds.db"
        let feed = FeedSettings(name: "orders", query: try #require(CanonicalQuery("Orders")))
        try await withServer({ _, connection in
            connection.respond("201 Created", "Content-Type: application/json\r\n", Array("{\"ID\":5}".utf8))
        }) { origin in
            let gateway = try await GatewayUnderTest(
                ["shop": origin.base + "/svc/"], storage: storage, feedStorage: try SQLiteFeedStorage(path: path),
                feeds: [feed])
            do {
                try await body(gateway, origin, try Connection(path: path + "-marks"))
            } catch {
                await gateway.stop()
                throw error
            }
            await gateway.stop()
        }
    }

    /// Creates an order with the same identifiers each time.
    private func post(_ gateway: GatewayUnderTest) async throws -> Int {
        var request = try #require(HTTPRequest(method: .post, url: gateway.root + "shop/Orders"))
        let fields = [
            ("Repeatability-Request-ID", "r"), ("Repeatability-First-Sent", RepeatedRequestTests.now),
            ("Repeatability-Client-ID", "c"), ("Content-Type", "application/json"),
        ]
        for (name, value) in fields { request.headerFields[try #require(HTTPField.Name(name))] = value }
        return try await defaultTransport().send(request, body: Array("{\"ID\":5}".utf8)).0.status.code
    }
}

/// A ledger that can be made unusable.
private final class FailingLedger: LedgerStorage {
    let fails = Mutex(false)
    private let rows = MemoryLedgerStorage()

    private func check() throws(LedgerStorageError) {
        if fails.withLock({ $0 }) { throw LedgerStorageError("unusable") }
    }

    func claim(_ claims: [LedgerClaim], _ rules: LedgerRules) async throws(LedgerStorageError) -> [LedgerVerdict] {
        try check()
        return try await rows.claim(claims, rules)
    }

    func complete(_ ends: [LedgerCompletion], _ rules: LedgerRules) async throws(LedgerStorageError) -> [Bool] {
        try check()
        return try await rows.complete(ends, rules)
    }

    func forget(_ rules: LedgerRules, limit: Int) async throws(LedgerStorageError) -> Int { 0 }
    func rows(in state: LedgerRow.UnitState?, limit: Int) async throws(LedgerStorageError) -> [LedgerRow] { [] }
    func openRows() async throws(LedgerStorageError) -> [LedgerRow.UnitState: Int] { [:] }
    func secret() async throws(LedgerStorageError) -> [UInt8] { try await rows.secret() }
}
