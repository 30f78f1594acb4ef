package import GatewayCore

/// A ledger in memory, for tests and simulations.
package actor MemoryLedgerStorage: LedgerStorage {
    private var rows: [LedgerKey: LedgerRow] = [:]
    private var key: [UInt8]?
    private let now: @Sendable () -> Int64

    package init(now: @escaping @Sendable () -> Int64 = WallClock.milliseconds) { self.now = now }

    package func claim(
        _ claims: [LedgerClaim], _ rules: LedgerRules
    ) async throws(LedgerStorageError) -> [LedgerVerdict] {
        let (verdicts, changed) = rules.decide(claims, rows: rows, now: now())
        for row in changed { rows[row.key] = row }
        return verdicts
    }

    package func complete(
        _ completions: [LedgerCompletion], _ rules: LedgerRules
    ) async throws(LedgerStorageError) -> [Bool] {
        completions.map { completion in
            guard let (written, deleted) = rules.complete(completion, rows: rows) else { return false }
            for row in written { rows[row.key] = row }
            for key in deleted { rows[key] = nil }
            return true
        }
    }

    package func forget(_ rules: LedgerRules, limit: Int) async throws(LedgerStorageError) -> Int {
        let first = rules.firstDay(now: now())
        let old = rows.keys.filter { $0.day < first }.prefix(limit)
        for key in old { rows[key] = nil }
        return old.count
    }

    package func rows(in state: LedgerRow.UnitState?, limit: Int) async throws(LedgerStorageError) -> [LedgerRow] {
        let found = rows.values.filter { state == nil || $0.state == state }
            .sorted { ($0.key.day, $0.key.client, $0.key.request) < ($1.key.day, $1.key.client, $1.key.request) }
        return found.prefix(limit).map { row in
            var row = row
            row.outcome = nil
            return row
        }
    }

    package func openRows() async throws(LedgerStorageError) -> [LedgerRow.UnitState: Int] {
        rows.values.filter { $0.state != .done }.reduce(into: [:]) { $0[$1.state, default: 0] += 1 }
    }

    package func secret() async throws(LedgerStorageError) -> [UInt8] {
        if let key { return key }
        let made = (0..<32).map { _ in UInt8.random(in: 0...255) }
        key = made
        return made
    }
}
