import Gateway
import GatewayCore
import ODataWire
import TestSupport
import Testing
import Views

/// The file of a ledger in SQLite.
struct SQLiteLedgerTests {
    private let directory = TemporaryDirectory()
    private let now: @Sendable () -> Int64 = { 1_795_600_000_000 }
    private let rules = LedgerRules(days: 14, leaseMilliseconds: 1_000)

    private var path: String { directory.path + "/ledger.db" }

    private func open() throws -> SQLiteLedgerStorage { try SQLiteLedgerStorage(path: path, now: now) }

    private var claim: LedgerClaim {
        let key = LedgerKey(
            endpoint: "shop", dialect: .oasis, client: "c", request: "r", day: Int32(now() / 86_400_000))
        return LedgerClaim(keys: [key], principal: [1], fingerprint: [2])
    }

    @Test func `a ledger that is opened again has its outcomes`() async throws {
        do {
            let storage = try open()
            #expect(try await storage.claim([claim], rules) == [.send(attempt: 1)])
            let end = LedgerCompletion(keys: claim.keys, attempt: 1, end: .done([7]))
            #expect(try await storage.complete([end], rules) == [true])
        }
        #expect(try await open().claim([claim], rules) == [.replay([7])])
    }

    @Test func `a ledger of another version is refused with both versions`() throws {
        _ = try open()
        try Connection(path: path).execute("UPDATE meta SET value = CAST('2' AS BLOB) WHERE name = 'schema_version'")
        let error = #expect(throws: LedgerStorageError.self) { try open() }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("version 2") && text.contains("version \(SQLiteLedgerStorage.schemaVersion)"), "\(text)")
    }
}
