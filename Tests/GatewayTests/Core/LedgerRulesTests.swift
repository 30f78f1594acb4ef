import GatewayCore
import ODataWire
import Testing

struct LedgerRulesTests {
    private let rules = LedgerRules(days: 14, leaseMilliseconds: 90_000)
    private let now: Int64 = 1_795_600_000_000

    private func claim(
        _ requests: [String] = ["r"], principal: UInt8 = 1, fingerprint: UInt8 = 7, daysAgo: Int64 = 0
    ) -> LedgerClaim {
        LedgerClaim(
            keys: requests.map {
                LedgerKey(
                    endpoint: "shop", dialect: .oasis, client: "c", request: $0,
                    day: Int32(now / 86_400_000 - daysAgo))
            }, principal: [principal], fingerprint: [fingerprint])
    }

    /// A ledger as a value.
    private struct Book {
        let rules: LedgerRules
        var rows: [LedgerKey: LedgerRow] = [:]

        mutating func claim(_ claims: LedgerClaim..., now: Int64) -> [LedgerVerdict] {
            let (verdicts, changed) = rules.decide(claims, rows: rows, now: now)
            for row in changed { rows[row.key] = row }
            return verdicts
        }

        mutating func complete(_ claim: LedgerClaim, _ attempt: Int64, _ end: LedgerCompletion.AttemptEnd) -> Bool {
            guard
                let (written, deleted) = rules.complete(.init(keys: claim.keys, attempt: attempt, end: end), rows: rows)
            else { return false }
            for row in written { rows[row.key] = row }
            for key in deleted { rows[key] = nil }
            return true
        }
    }

    @Test func `a new request is sent, and its repetition gets the outcome`() {
        var book = Book(rules: rules)
        #expect(book.claim(claim(), now: now) == [.send(attempt: 1)])
        #expect(book.complete(claim(), 1, .done([1, 2])) == true)
        #expect(book.claim(claim(), now: now + 1_000_000) == [.replay([1, 2])])
    }

    @Test func `a repetition waits for the first attempt, and then is in doubt for ever`() {
        var book = Book(rules: rules)
        _ = book.claim(claim(), now: now)
        #expect(book.claim(claim(), now: now + 89_999) == [.wait(until: now + 90_000)])
        #expect(book.claim(claim(), now: now + 90_000) == [.refuse(.doubt)])
        #expect(book.complete(claim(), 1, .done([1])) == false, "the late outcome is fenced off")
        #expect(book.claim(claim(), now: now + 90_001) == [.refuse(.doubt)])
    }

    @Test func `a request that the origin has not executed is sent again`() {
        var book = Book(rules: rules)
        _ = book.claim(claim(), now: now)
        #expect(book.complete(claim(), 1, .notExecuted) == true)
        #expect(book.claim(claim(), now: now) == [.send(attempt: 1)])
    }

    @Test func `other contents and other users are refused`() {
        var book = Book(rules: rules)
        _ = book.claim(claim(), now: now)
        #expect(book.claim(claim(fingerprint: 8), now: now) == [.refuse(.differs)])
        #expect(book.claim(claim(principal: 2), now: now) == [.refuse(.foreign)])
        #expect(book.claim(claim(principal: 2, fingerprint: 8), now: now) == [.refuse(.foreign)])
        #expect(book.complete(claim(), 1, .done([9])) == true)
        #expect(book.claim(claim(principal: 2), now: now) == [.refuse(.foreign)])
    }

    @Test func `a part of a change set is not the change set`() {
        var book = Book(rules: rules)
        _ = book.claim(claim(["a", "b"]), now: now)
        #expect(book.complete(claim(["a", "b"]), 1, .done([3])) == true)
        #expect(book.claim(claim(["a", "b"]), now: now) == [.replay([3])])
        #expect(book.claim(claim(["b"], fingerprint: 8), now: now) == [.refuse(.differs)])
        #expect(book.claim(claim(["b", "c"]), now: now) == [.refuse(.differs)])
    }

    @Test func `an old request is refused for any content of the ledger`() {
        var book = Book(rules: rules)
        #expect(book.claim(claim(daysAgo: 15), now: now) == [.refuse(.expired)])
        #expect(book.claim(claim(daysAgo: 14), now: now) == [.send(attempt: 1)])
    }

    @Test func `if one unit has to wait, no other one is sent`() {
        var book = Book(rules: rules)
        _ = book.claim(claim(["a"]), now: now)
        let verdicts = book.claim(claim(["b"]), claim(["a"]), now: now)
        #expect(verdicts == [.send(attempt: 1), .wait(until: now + 90_000)])
        #expect(book.rows.count == 1)
    }

    @Test func `a unit twice in one batch is not sent twice`() {
        var book = Book(rules: rules)
        #expect(book.claim(claim(), claim(), now: now) == [.send(attempt: 1), .wait(until: now + 90_000)])
        #expect(book.rows.isEmpty)
    }

    /// Clients, restarts and late outcomes in any order: each content is executed once, unless it was reported as not
    /// executed.
    @Test(arguments: 0..<200) func `no sequence of faults executes a unit twice`(_ seed: UInt64) {
        var state = seed &* 2_654_435_761 &+ 1
        func random(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        var book = Book(rules: rules)
        var time = now
        var executions: [Int: Int] = [:]
        var running: [(unit: Int, attempt: Int64)] = []
        for _ in 0..<100 {
            time += Int64(random(40_000))
            let unit = random(3)
            switch random(3) {
            case 0, 1:
                if case .send(let attempt) = book.claim(claim(["u\(unit)"]), now: time)[0] {
                    running.append((unit, attempt))
                    executions[unit, default: 0] += 1
                }
            default:
                guard !running.isEmpty else { continue }
                let (unit, attempt) = running.remove(at: random(running.count))
                switch random(3) {
                case 0: _ = book.complete(claim(["u\(unit)"]), attempt, .done([UInt8(unit)]))
                case 1: _ = book.complete(claim(["u\(unit)"]), attempt, .doubt)
                default:
                    if book.complete(claim(["u\(unit)"]), attempt, .notExecuted) { executions[unit, default: 1] -= 1 }
                }
            }
            #expect(executions.values.allSatisfy { $0 <= 1 }, "seed \(seed)")
        }
    }

    @Test func `an outcome survives its stored form, and other bytes are none`() {
        let response = WireResponse(status: 201, headers: ["A": "ä", "Location": "x"], body: [0, 255, 10])
        for outcome in [
            UnitOutcome.members([response, response]), .failed(response, culprit: 1), .failed(response, culprit: nil),
        ] {
            #expect(UnitOutcome(encoded: outcome.encoded) == outcome)
            for count in 0..<outcome.encoded.count {
                #expect(UnitOutcome(encoded: Array(outcome.encoded[..<count])) == nil)
            }
        }
    }

    @Test(
        arguments: [
            (201, [:], ResponseMeaning.outcome), (204, [:], .outcome), (404, [:], .outcome), (412, [:], .outcome),
            (401, [:], .notExecuted), (403, [:], .notExecuted), (429, [:], .notExecuted),
            (503, ["Retry-After": "1"], .notExecuted),
            (503, [:], .unknown), (500, [:], .unknown), (502, [:], .unknown), (504, [:], .unknown),
            (202, ["Location": "m"], .unknown),
            (307, [:], .notExecuted), (303, [:], .unknown), (408, [:], .unknown),
        ] as [(Int, [String: String], ResponseMeaning)])
    func `the status states whether a request took effect`(
        _ status: Int, _ headers: [String: String], _ meaning: ResponseMeaning
    ) {
        #expect(
            ResponseMeaning(WireResponse(status: status, headers: HTTPHeaders(headers.map { ($0, $1) }))) == meaning)
    }
}
