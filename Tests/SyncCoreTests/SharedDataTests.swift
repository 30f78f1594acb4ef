import Operations
import SyncCore
import Testing

/// Refresh intervals of shared data.
struct SharedDataTests {
    private static let minute: Timestamp = 60_000

    private func isFresh(
        _ now: Timestamp, downloaded: Timestamp? = 1_000, isComplete: Bool = true, isShared: Bool = true,
        interval: Int = 15
    ) -> Bool {
        DefiningQuerySettings(isSharedData: isShared, refreshInterval: interval).isFresh(
            QueryState(
                query: DefiningQuery(name: "Q", query: "Orders"), run: 1, isComplete: isComplete,
                downloaded: downloaded), now: now)
    }

    @Test func `shared data are current until the interval has passed`() {
        #expect(isFresh(1_000))
        #expect(isFresh(1_000 + 15 * Self.minute - 1))
        #expect(!isFresh(1_000 + 15 * Self.minute))
        #expect(!isFresh(1_000, interval: 0))
    }

    @Test func `data that are not shared, not downloaded or incomplete are never current`() {
        #expect(!isFresh(1_000, isShared: false))
        #expect(!isFresh(1_000, downloaded: nil))
        #expect(!isFresh(1_000, isComplete: false))
    }

    @Test func `a clock that is set back makes no data current, and large intervals do not overflow`() {
        #expect(!isFresh(999))
        #expect(isFresh(.max, interval: .max))
        #expect(!isFresh(.max, downloaded: .min))
    }
}
