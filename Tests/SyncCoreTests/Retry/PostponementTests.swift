import Operations
import SyncCore
import Testing

struct PostponementTests {
    private func delay(until notBefore: Timestamp, since: Timestamp, at now: Timestamp) -> Duration {
        Postponement(UploadPostponed(notBefore: notBefore, attempt: 1, reason: "busy"), since: since).delay(from: now)
    }

    @Test func `the delay is the remaining time until the retry, and zero afterwards`() {
        #expect(delay(until: 5_000, since: 1_000, at: 1_000) == .seconds(4))
        #expect(delay(until: 5_000, since: 1_000, at: 4_999) == .milliseconds(1))
        #expect(delay(until: 5_000, since: 1_000, at: 5_000) == .zero)
        #expect(delay(until: 5_000, since: 1_000, at: .max) == .zero)
    }

    @Test func `a postponement that starts in the future is ignored`() {
        #expect(delay(until: 5_000, since: 1_000, at: 999) == .zero)
        #expect(delay(until: .max, since: .max, at: 0) == .zero)
    }

    @Test func `a postponement lasts at most a day`() {
        #expect(delay(until: .max, since: 1_000, at: 1_000) == .seconds(86_400))
        #expect(delay(until: .max, since: 1_000, at: 86_401_000) == .zero)
        #expect(delay(until: .max, since: .max - 1, at: .max - 1) == .milliseconds(1))
        #expect(delay(until: 0, since: .min, at: .min) == .seconds(86_400))
    }
}
