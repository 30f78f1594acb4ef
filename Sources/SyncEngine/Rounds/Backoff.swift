import OfflineStore
import Operations
import SyncCore

/// The backoff for a busy service. A postponement is logged first, so that it also applies after a restart.
struct Backoff {
    let store: LocalStore
    let activity: SyncActivity
    let policy: RetryPolicy
    /// The name of the waiting work in messages, such as `upload`.
    let work: String
    /// The total time waited so far.
    private(set) var waited = Duration.zero

    private var environment: SyncEnvironment { store.environment }

    init(_ store: LocalStore, _ activity: SyncActivity, _ policy: RetryPolicy, work: String) {
        self.store = store
        self.activity = activity
        self.policy = policy
        self.work = work
    }

    /// Returns whether the policy allows another delay of this length.
    func allowsWaiting(for delay: Duration) -> Bool { policy.patience != .zero && waited + delay <= policy.patience }

    /// Logs the time of the next attempt.
    ///
    /// - Parameter attempt: The number of consecutive failed attempts.
    func postpone(
        _ reason: String, attempt: Int, retryAfter: Duration?
    ) async throws(TidelogError) -> (UploadPostponed, Duration) {
        let (postponed, delay) = next(reason, attempt: attempt, retryAfter: retryAfter)
        try await store.record([.uploadPostponed(postponed)])
        return (postponed, delay)
    }

    /// Returns the time of the next attempt for this work only. Nothing is logged, and no other work waits.
    func next(_ reason: String, attempt: Int, retryAfter: Duration?) -> (UploadPostponed, Duration) {
        let delay = policy.delay(afterAttempt: attempt, retryAfter: retryAfter, random: environment.random())
        return (
            UploadPostponed(notBefore: environment.now() + delay.milliseconds, attempt: attempt, reason: reason), delay
        )
    }

    /// Waits for the postponement that an earlier upload or download recorded.
    mutating func wait(for postponed: Postponement) async throws(TidelogError) {
        let delay = postponed.delay(from: environment.now())
        guard delay > .zero else { return }
        guard delay <= policy.patience else {
            throw TidelogError(
                .postponed(until: postponed.upload.notBefore), "The \(work) is postponed. \(postponed.upload.reason)",
                recovery: "Try again later, or start the \(work) so that it ignores the postponement; no data is lost.")
        }
        try await wait(delay, for: postponed.upload)
    }

    mutating func wait(_ delay: Duration, for postponed: UploadPostponed) async throws(TidelogError) {
        activity.notify(
            .waiting(until: postponed.notBefore, attempt: postponed.attempt, reason: postponed.reason))
        do throws(CancellationError) {
            try await environment.sleep(delay)
        } catch {
            throw TidelogError(
                .cancelled, "The \(work) was cancelled while it waited.",
                recovery: "Start the \(work) again; no data is lost.")
        }
        waited += delay
    }
}
