import Operations
import SyncCore
import Testing

struct PostponementTests {
    private func delay(until notBefore: Timestamp, since: Timestamp, at now: Timestamp) -> Duration {
        Postponement(UploadPostponed(notBefore: notBefore, attempt: 1, reason: "busy"), since: since).delay(from: now)
    }

    @Test func `what is left of the time is waited for, and nothing after it`() {
        #expect(delay(until: 5_000, since: 1_000, at: 1_000) == .seconds(4))
        #expect(delay(until: 5_000, since: 1_000, at: 4_999) == .milliseconds(1))
        #expect(delay(until: 5_000, since: 1_000, at: 5_000) == .zero)
        #expect(delay(until: 5_000, since: 1_000, at: .max) == .zero)
    }

    @Test func `a time that has not come yet was a wrong clock's`() {
        #expect(delay(until: 5_000, since: 1_000, at: 999) == .zero)
        #expect(delay(until: .max, since: .max, at: 0) == .zero)
    }

    @Test func `nobody waits longer than a day after it was put off`() {
        #expect(delay(until: .max, since: 1_000, at: 1_000) == .seconds(86_400))
        #expect(delay(until: .max, since: 1_000, at: 86_401_000) == .zero)
        #expect(delay(until: .max, since: .max - 1, at: .max - 1) == .milliseconds(1))
        #expect(delay(until: 0, since: .min, at: .min) == .seconds(86_400))
    }
}
