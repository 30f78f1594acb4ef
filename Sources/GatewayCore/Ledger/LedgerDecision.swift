/// The decision on a unit.
package enum LedgerVerdict: Sendable, Hashable {
    /// The unit is new. It is sent under this attempt.
    case send(attempt: Int64)
    /// The unit was executed before; the outcome is encoded.
    case replay([UInt8])
    /// The origin may still be executing the unit, until this time.
    case wait(until: Int64)
    case refuse(LedgerRefusal)
}

/// The reason why a unit is neither sent nor answered by an outcome.
package enum LedgerRefusal: Sendable, Hashable {
    /// Another content was sent under the same identifiers.
    case differs
    /// The identifiers belong to a request with other credentials.
    case foreign
    /// The request was first sent longer ago than rows are kept.
    case expired
    /// The response of the origin was lost: the client has to read whether the request took effect.
    case doubt

    package var status: Int { self == .differs ? 400 : 412 }

    package var message: String {
        switch self {
        case .differs: "Another request was sent with this identifier."
        case .foreign: "This identifier was used with other credentials."
        case .expired: "The request was first sent before the period for which requests are remembered."
        case .doubt:
            "The response of the service to this request was lost. The request is not sent again. Read the entity to see whether it took effect."
        }
    }
}

/// The rules of the ledger. Storages read rows, ask for a decision and write the resulting rows, in one transaction.
package struct LedgerRules: Sendable, Hashable {
    /// The number of days for which a request is remembered after its first transmission.
    package var days: Int
    /// The time in which the origin may execute a request after it was sent, in milliseconds.
    package var leaseMilliseconds: Int64

    package init(days: Int, leaseMilliseconds: Int64) {
        self.days = days
        self.leaseMilliseconds = leaseMilliseconds
    }

    /// The first day whose rows are kept.
    package func firstDay(now: Int64) -> Int32 { Int32(clamping: now / 86_400_000 - Int64(days)) }

    /// Decides on all units of a request. If one of them has to wait, no unit is sent and no row changes to `sending`.
    ///
    /// - Parameters:
    ///   - rows: The existing rows of all keys.
    ///   - now: Milliseconds since 1970.
    /// - Returns: One verdict for each claim, and the rows to write.
    package func decide(
        _ claims: [LedgerClaim], rows: [LedgerKey: LedgerRow], now: Int64
    ) -> (verdicts: [LedgerVerdict], changed: [LedgerRow]) {
        var rows = rows
        var changed: [LedgerRow] = []
        var verdicts: [LedgerVerdict] = []
        for claim in claims {
            let (verdict, written) = decide(claim, rows, now)
            verdicts.append(verdict)
            changed += written
            // A unit that occurs twice in one batch is sent once.
            for row in written { rows[row.key] = row }
        }
        let waits = verdicts.contains { if case .wait = $0 { true } else { false } }
        if waits { changed.removeAll { $0.state == .sending } }
        return (verdicts, changed)
    }

    private func decide(
        _ claim: LedgerClaim, _ rows: [LedgerKey: LedgerRow], _ now: Int64
    ) -> (LedgerVerdict, [LedgerRow]) {
        let oldest = firstDay(now: now)
        guard claim.keys.allSatisfy({ $0.day >= oldest }) else { return (.refuse(.expired), []) }
        let known = claim.keys.compactMap { rows[$0] }
        guard let first = known.first else {
            let sending = claim.keys.map { key in
                LedgerRow(
                    key: key, principal: claim.principal, fingerprint: claim.fingerprint, state: .sending, attempt: 1,
                    leaseEnd: now + leaseMilliseconds)
            }
            return (.send(attempt: 1), sending)
        }
        guard known.allSatisfy({ $0.principal == claim.principal }) else { return (.refuse(.foreign), []) }
        guard known.count == claim.keys.count, known.allSatisfy({ $0.fingerprint == claim.fingerprint }) else {
            return (.refuse(.differs), [])
        }
        switch first.state {
        case .done: return (first.outcome.map { .replay($0) } ?? .refuse(.doubt), [])
        case .sending, .doubt:
            if now < first.leaseEnd { return (.wait(until: first.leaseEnd), []) }
            if first.state == .doubt { return (.refuse(.doubt), []) }
            // The attempt died with its process. Its late outcome, if there is one, is fenced off.
            let doubtful = known.map { row in
                var row = row
                row.state = .doubt
                row.attempt += 1
                return row
            }
            return (.refuse(.doubt), doubtful)
        }
    }

    /// Applies the end of an attempt.
    ///
    /// - Returns: The rows to write and the keys to delete, or `nil` if another attempt has taken over.
    package func complete(
        _ completion: LedgerCompletion, rows: [LedgerKey: LedgerRow]
    ) -> (written: [LedgerRow], deleted: [LedgerKey])? {
        let known = completion.keys.compactMap { rows[$0] }
        guard known.count == completion.keys.count,
            known.allSatisfy({ $0.attempt == completion.attempt && $0.state == .sending })
        else { return nil }
        switch completion.end {
        case .notExecuted: return ([], completion.keys)
        case .doubt:
            return (known.map { row in Self.changed(row) { $0.state = .doubt } }, [])
        case .done(let outcome):
            let written = known.enumerated().map { index, row in
                Self.changed(row) {
                    $0.state = .done
                    $0.outcome = index == 0 ? outcome : nil
                }
            }
            return (written, [])
        }
    }

    private static func changed(_ row: LedgerRow, _ change: (inout LedgerRow) -> Void) -> LedgerRow {
        var row = row
        change(&row)
        return row
    }
}
