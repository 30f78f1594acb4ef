import Gateway
import GatewayCore
import Synchronization
import TestSupport
import Testing

/// The contract of all storages.
struct LedgerStorageTests {
    enum Storage: String, CaseIterable, CustomTestStringConvertible {
        case memory, sqlite, postgres
        static var allCases: [Storage] {
            PostgresServer.isInstalled ? [.memory, .sqlite, .postgres] : [.memory, .sqlite]
        }
        var testDescription: String { rawValue }
    }

    private final class Time: Sendable {
        private let value = Mutex<Int64>(1_795_600_000_000)
        func advance(_ milliseconds: Int64) { value.withLock { $0 += milliseconds } }
        var now: @Sendable () -> Int64 { { self.value.withLock { $0 } } }
    }

    private let directory = TemporaryDirectory()
    private let time = Time()
    private let rules = LedgerRules(days: 14, leaseMilliseconds: 1_000)

    private func make(_ storage: Storage) async throws -> any LedgerStorage {
        switch storage {
        case .memory: MemoryLedgerStorage(now: time.now)
        case .sqlite: try SQLiteLedgerStorage(path: directory.path + "/ledger.db", now: time.now)
        case .postgres: try await PostgresLedgerStorage(PostgresServer.fresh(), now: time.now)
        }
    }

    private func claim(_ names: String..., principal: UInt8 = 1, daysAgo: Int64 = 0) -> LedgerClaim {
        let day = Int32(time.now() / 86_400_000 - daysAgo)
        return LedgerClaim(
            keys: names.map { LedgerKey(endpoint: "shop", dialect: .oasis, client: "ä'c", request: $0, day: day) },
            principal: [principal], fingerprint: [1, 0, 255])
    }

    @Test(arguments: Storage.allCases)
    func `a claim is sent once, and its outcome answers every repetition`(_ kind: Storage) async throws {
        let storage = try await make(kind)
        #expect(
            try await storage.claim([claim("a", "b"), claim("c")], rules) == [.send(attempt: 1), .send(attempt: 1)])
        let ends = [
            LedgerCompletion(keys: claim("a", "b").keys, attempt: 1, end: .done([0, 1, 255])),
            LedgerCompletion(keys: claim("c").keys, attempt: 1, end: .notExecuted),
        ]
        #expect(try await storage.complete(ends, rules) == [true, true])
        #expect(
            try await storage.claim([claim("a", "b"), claim("c")], rules) == [.replay([0, 1, 255]), .send(attempt: 1)])
        #expect(try await storage.claim([claim("a", "b", principal: 2)], rules) == [.refuse(.foreign)])
    }

    @Test(arguments: Storage.allCases)
    func `a list of rows has no outcomes, which may contain data of users`(_ kind: Storage) async throws {
        let storage = try await make(kind)
        _ = try await storage.claim([claim("a")], rules)
        let end = LedgerCompletion(keys: claim("a").keys, attempt: 1, end: .done([0, 1, 255]))
        #expect(try await storage.complete([end], rules) == [true])
        let rows = try await storage.rows(in: nil, limit: 9)
        #expect(rows.count == 1 && rows.allSatisfy { $0.outcome == nil })
    }

    @Test(arguments: Storage.allCases)
    func `a lease that is over fences the late outcome off`(_ kind: Storage) async throws {
        let storage = try await make(kind)
        _ = try await storage.claim([claim("a")], rules)
        #expect(try await storage.claim([claim("b"), claim("a")], rules).last == .wait(until: time.now() + 1_000))
        time.advance(1_000)
        #expect(try await storage.claim([claim("b"), claim("a")], rules) == [.send(attempt: 1), .refuse(.doubt)])
        #expect(
            try await storage.complete([.init(keys: claim("a").keys, attempt: 1, end: .done([1]))], rules) == [false])
        #expect(try await storage.rows(in: .doubt, limit: 10).map(\.key.request) == ["a"])
    }

    @Test(arguments: Storage.allCases)
    func `an outcome that is fenced off does not prevent those of the same batch`(_ kind: Storage) async throws {
        let storage = try await make(kind)
        _ = try await storage.claim([claim("a"), claim("b", "c")], rules)
        time.advance(1_000)
        #expect(try await storage.claim([claim("a")], rules) == [.refuse(.doubt)])
        let ends = [claim("a"), claim("b", "c"), claim("d")].map {
            LedgerCompletion(keys: $0.keys, attempt: 1, end: .done([1]))
        }
        #expect(try await storage.complete(ends, rules) == [false, true, false])
        #expect(
            try await storage.claim([claim("a"), claim("b", "c"), claim("d")], rules)
                == [.refuse(.doubt), .replay([1]), .send(attempt: 1)])
    }

    @Test(arguments: Storage.allCases)
    func `parallel claims of one request are sent once`(_ kind: Storage) async throws {
        let storage = try await make(kind)
        let claim = claim("a")
        let sent = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask { try await storage.claim([claim], rules) == [.send(attempt: 1)] ? 1 : 0 }
            }
            return try await group.reduce(0, +)
        }
        #expect(sent == 1)
    }

    /// Two devices whose batches have common units, in different orders.
    @Test(arguments: Storage.allCases)
    func `parallel claims and outcomes of overlapping batches send each unit once`(_ kind: Storage) async throws {
        let storage = try await make(kind)
        let sent = Locked<[String: Int]>([:])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for round in 0..<10 {
                        let names = (0..<6).map { "\(round)-\(($0 + worker) % 6)" }
                        let claims = (worker.isMultiple(of: 2) ? names : names.reversed()).map { claim($0) }
                        let verdicts = try await storage.claim(claims, rules)
                        let mine = zip(claims, verdicts).filter { $0.1 == .send(attempt: 1) }.map(\.0)
                        let isWaiting = verdicts.contains { if case .wait = $0 { true } else { false } }
                        if isWaiting { continue }
                        sent.withLock { sent in for claim in mine { sent[claim.keys[0].request, default: 0] += 1 } }
                        let ends = mine.map { LedgerCompletion(keys: $0.keys, attempt: 1, end: .done([7])) }
                        #expect(try await storage.complete(ends, rules).allSatisfy(\.self))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(sent.withLock { $0.values.allSatisfy { $0 == 1 } && $0.count == 60 })
    }

    @Test(arguments: Storage.allCases)
    func `the numbers of open rows are known, and the secret does not change`(_ kind: Storage) async throws {
        let storage = try await make(kind)
        let secret = try await storage.secret()
        #expect(secret.count == 32)
        #expect(try await storage.secret() == secret)
        _ = try await storage.claim([claim("a"), claim("b"), claim("c")], rules)
        let ends = [
            LedgerCompletion(keys: claim("a").keys, attempt: 1, end: .done([1])),
            LedgerCompletion(keys: claim("b").keys, attempt: 1, end: .doubt),
        ]
        #expect(try await storage.complete(ends, rules) == [true, true])
        #expect(try await storage.openRows() == [.sending: 1, .doubt: 1])
    }

    @Test(arguments: Storage.allCases)
    func `old rows are forgotten and refused`(_ kind: Storage) async throws {
        let storage = try await make(kind)
        let old = claim("a", daysAgo: 14)
        _ = try await storage.claim([old, claim("b")], rules)
        time.advance(86_400_000)
        #expect(try await storage.forget(rules, limit: 10) == 1)
        #expect(try await storage.rows(in: nil, limit: 10).map(\.key.request) == ["b"])
        #expect(try await storage.claim([old], rules) == [.refuse(.expired)])
    }

    @Test func `a SQLite ledger remembers its rows and its secret after it was opened again`() async throws {
        var storage: (any LedgerStorage)? = try await make(.sqlite)
        let secret = try await storage?.secret()
        _ = try await storage?.claim([claim("a"), claim("b")], rules)
        _ = try await storage?.complete([.init(keys: claim("a").keys, attempt: 1, end: .done([7]))], rules)
        storage = nil
        let again = try await make(.sqlite)
        #expect(try await again.secret() == secret)
        #expect(
            try await again.claim([claim("a")], rules) == [.replay([7])])
        #expect(try await again.claim([claim("b")], rules) == [.wait(until: time.now() + 1_000)])
    }

    @Test func `a file that is no ledger is an error with a remedy`() async {
        TemporaryDirectory.write(
            Array("not a database, but long enough to be taken for one".utf8), to: directory.path + "/ledger.db")
        let error = await #expect(throws: LedgerStorageError.self) { _ = try await make(.sqlite) }
        #expect(error?.description.contains("Check that") == true)
    }
}
