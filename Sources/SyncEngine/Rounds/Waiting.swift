import ODataWire
import Operations
import SyncCore

/// Leaves a busy service alone for a while. What is waited for is in the log first, so that it holds after a restart too.
struct Waiting {
    let store: LocalStore
    let activity: SyncActivity
    let policy: RetryPolicy
    /// What waits, for a sentence: `upload`.
    let work: String
    /// How long it has waited so far.
    private(set) var waited = Duration.zero

    private var environment: SyncEnvironment { store.environment }

    init(_ store: LocalStore, _ activity: SyncActivity, _ policy: RetryPolicy, work: String) {
        self.store = store
        self.activity = activity
        self.policy = policy
        self.work = work
    }

    /// Whether the policy has patience for that as well.
    func hasPatience(for delay: Duration) -> Bool { policy.patience != .zero && waited + delay <= policy.patience }

    /// Logs when the next attempt may be made.
    ///
    /// - Parameter attempt: how many in a row have come to nothing.
    func postpone(
        _ reason: String, attempt: Int, retryAfter: Duration?
    ) async throws(TidelogError) -> (UploadPostponed, Duration) {
        let (postponed, delay) = next(reason, attempt: attempt, retryAfter: retryAfter)
        try await store.record([.uploadPostponed(postponed)])
        return (postponed, delay)
    }

    /// When the next attempt may be made, for this work only: nothing is logged, and nothing else waits.
    func next(_ reason: String, attempt: Int, retryAfter: Duration?) -> (UploadPostponed, Duration) {
        let delay = policy.delay(afterAttempt: attempt, retryAfter: retryAfter, random: environment.random())
        return (
            UploadPostponed(notBefore: environment.now() + delay.milliseconds, attempt: attempt, reason: reason), delay
        )
    }

    /// Waits for what an earlier upload or download has left to be waited for.
    mutating func wait(for postponed: Postponement) async throws(TidelogError) {
        let delay = postponed.delay(from: environment.now())
        guard delay > .zero else { return }
        guard delay <= policy.patience else {
            throw TidelogError(
                .postponed(until: postponed.upload.notBefore), "The \(work) is put off. \(postponed.upload.reason)",
                recovery: "Nothing is lost; try again later, or tell the \(work) to ignore it.")
        }
        try await wait(delay, for: postponed.upload)
    }

    mutating func wait(_ delay: Duration, for postponed: UploadPostponed) async throws(TidelogError) {
        activity.tell(
            .waiting(until: postponed.notBefore, attempt: postponed.attempt, reason: postponed.reason))
        do throws(CancellationError) {
            try await environment.sleep(delay)
        } catch {
            throw TidelogError(
                .cancelled, "The \(work) was cancelled while it waited.",
                recovery: "Nothing is lost; the next \(work) goes on from here.")
        }
        waited += delay
    }
}
