import ODataWire
import SeededRandom
import SyncCore
import Testing

struct RetryTests {
    // MARK: Delays

    @Test func `a delay is random between zero and a limit that doubles`() {
        let policy = RetryPolicy(firstDelay: .seconds(1), longestDelay: .seconds(300))
        func longest(_ attempt: Int) -> Int64 {
            let limit: Int64 = min(1_000 << min(Int64(attempt) - 1, 20), 300_000)
            return policy.delay(afterAttempt: attempt, retryAfter: nil, random: UInt64(limit)).milliseconds
        }
        #expect((1...11).map(longest) == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map { $0 * 1_000 })
        #expect(policy.delay(afterAttempt: 9, retryAfter: nil, random: 0) == .zero)
        #expect(policy.delay(afterAttempt: .max, retryAfter: nil, random: .max) <= .seconds(300))
        #expect(policy.delay(afterAttempt: -3, retryAfter: nil, random: .max) <= .seconds(1))
    }

    @Test func `delays are uniformly distributed`() {
        let seed: UInt64 = 20_261_122
        var random = SeededRandom(seed: seed)
        var tenths = [Int](repeating: 0, count: 10)
        for _ in 0..<10_000 {
            let delay = RetryPolicy().delay(afterAttempt: 4, retryAfter: nil, random: random.next())
            #expect(delay <= .seconds(8))
            tenths[min(Int(delay.milliseconds / 800), 9)] += 1
        }
        #expect(tenths.allSatisfy { (850...1_150).contains($0) }, "seed \(seed): \(tenths)")
    }

    @Test func `a delay is at least Retry-After, which is limited to a day`() {
        let policy = RetryPolicy()
        #expect(policy.delay(afterAttempt: 1, retryAfter: .seconds(120), random: 500) == .seconds(120))
        #expect(policy.delay(afterAttempt: 1, retryAfter: .zero, random: 500) == .milliseconds(500))
        #expect(policy.delay(afterAttempt: 1, retryAfter: .seconds(1 << 30), random: 0) == .seconds(86_400))
    }

    @Test func `unusual policies yield valid delays`() {
        let policy = RetryPolicy(firstDelay: .seconds(Int64.max), longestDelay: .seconds(-5))
        #expect(policy.delay(afterAttempt: 50, retryAfter: .seconds(-9), random: .max) <= .milliseconds(1))
    }

    // MARK: Retry-After

    @Test(
        arguments: [
            ("120", 120_000), ("0", 0), ("Sun, 06 Nov 1994 08:50:07 GMT", 30_000),
            ("Sunday, 06-Nov-94 08:50:07 GMT", 30_000), ("Sun Nov  6 08:50:07 1994", 30_000),
            ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("99999999999999999999999", 1_000_000_000_000),
            ("soon", nil), ("-5", nil), ("", nil), ("1.5", nil),
        ] as [(String, Int64?)])
    func `Retry-After is a number of seconds or one of three date formats`(_ text: String, _ milliseconds: Int64?) {
        // Sun, 06 Nov 1994 08:49:37 GMT
        let delay = RetryAfter.delay(["Retry-After": text], now: 784_111_777_000)
        #expect(delay.map(\.milliseconds) == milliseconds)
    }

    @Test func `a date is compared with the Date header of the response`() {
        let headers: HTTPHeaders = [
            "Retry-After": "Sun, 06 Nov 1994 08:50:07 GMT", "Date": "Sun, 06 Nov 1994 08:50:00 GMT",
        ]
        #expect(RetryAfter.delay(headers, now: 0) == .seconds(7))
    }

    @Test func `a response without Retry-After yields no delay`() {
        #expect(RetryAfter.delay(["Date": "Sun, 06 Nov 1994 08:50:00 GMT"], now: 0) == nil)
    }

    // MARK: Statuses

    @Test func `statuses are classified as temporary or permanent`() {
        #expect([408, 425, 429, 503].allSatisfy { FailureClass(status: $0) == .transient })
        #expect([502, 504].allSatisfy { FailureClass(status: $0) == .uncertain })
        #expect(
            [400, 401, 403, 404, 409, 410, 412, 422, 423, 428, 500, 501, 505, 507].allSatisfy {
                FailureClass(status: $0) == .permanent
            })
    }
}
