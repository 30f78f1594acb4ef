import ODataWire
import OfflineStore
import Operations
import SyncCore

/// Reads for a download and retries within the limits of the policy if the service is busy. Reading is idempotent, so a
/// retry repeats the current page.
struct RetryingReader {
    let session: ServiceSession
    private let policy: RetryPolicy
    private var waiting: Backoff
    /// The number of consecutive failed attempts.
    private var failures = 0
    /// The number of consecutive failures before this download, so that the backoff continues to grow.
    private var failuresBefore = 0

    init(_ store: LocalStore, _ session: ServiceSession, _ policy: RetryPolicy) {
        self.session = session
        self.policy = policy
        waiting = Backoff(store, session.activity, policy, work: "download")
    }

    /// Waits for the postponement that an earlier upload or download recorded.
    ///
    /// - Parameter ignoresPostponement: Whether to skip the wait.
    mutating func begin(ignoresPostponement: Bool) async throws(TidelogError) {
        let store = waiting.store
        // If the service deferred single operations, that does not apply to reading.
        guard let postponed = try await store.postponement, try await store.queue.pendingOperations(.deferred).isEmpty
        else { return }
        let age = store.environment.now().subtractingReportingOverflow(postponed.upload.notBefore).partialValue
        if age < policy.longestDelay.milliseconds { failuresBefore = postponed.upload.attempt }
        if !ignoresPostponement { try await waiting.wait(for: postponed) }
    }

    /// Sends a GET request. Any permanent status is returned as a response.
    mutating func get(_ url: String, headers: HTTPHeaders) async throws(TidelogError) -> WireResponse {
        while true {
            let result = await attempt(url, headers)
            guard let reason = reason(result, url) else {
                finished()
                return try result.get()
            }
            guard try await waits(reason, try? result.get()) else { return try result.get() }
        }
    }

    /// Sends a GET request and returns the body of a success in chunks.
    ///
    /// The caller reports the outcome of the body with ``finished()`` or ``mayAskAgain(after:_:)``.
    mutating func stream(_ url: String, headers: HTTPHeaders) async throws(TidelogError) -> StreamedResponse {
        while true {
            let result = await attemptStream(url, headers)
            guard let reason = reason(result.map(\.response), url) else { return try result.get() }
            guard try await waits(reason, (try? result.get())?.response) else { return try result.get() }
        }
    }

    /// Records that a body arrived completely.
    mutating func finished() { (failures, failuresBefore) = (0, 0) }

    /// Waits after a body broke off, as after a missing response.
    ///
    /// - Returns: False if the wait would exceed the policy's limit, or if a retry is of no use.
    mutating func mayAskAgain(after error: TidelogError, _ url: String) async throws(TidelogError) -> Bool {
        guard let reason = reason(.failure(error), url) else { return false }
        return try await waits(reason, nil)
    }

    /// Waits before the next attempt. Returns false if there is to be none.
    private mutating func waits(_ reason: String, _ response: WireResponse?) async throws(TidelogError) -> Bool {
        failures += 1
        let retryAfter = response.flatMap { RetryAfter.delay($0.headers, now: waiting.store.environment.now()) }
        // Only if the service itself asks for it do uploads wait too. A query that always times out in a gateway
        // does not affect them.
        let isBusy = response.map { FailureClass(status: $0.status) == .transient } ?? false
        let attempt = failuresBefore + failures
        let (postponed, delay) =
            isBusy
            ? try await waiting.postpone(reason, attempt: attempt, retryAfter: retryAfter)
            : waiting.next(reason, attempt: attempt, retryAfter: retryAfter)
        guard failures < policy.attempts, waiting.allowsWaiting(for: delay) else { return false }
        try await waiting.wait(delay, for: postponed)
        return true
    }

    private func attemptStream(_ url: String, _ headers: HTTPHeaders) async -> Result<StreamedResponse, TidelogError> {
        do throws(TidelogError) { return .success(try await session.stream(url, headers: headers)) } catch {
            return .failure(error)
        }
    }

    private func attempt(_ url: String, _ headers: HTTPHeaders) async -> Result<WireResponse, TidelogError> {
        do throws(TidelogError) { return .success(try await session.get(url, headers: headers)) } catch {
            return .failure(error)
        }
    }

    /// Returns the reason why a retry may succeed, or nil if it cannot.
    private func reason(_ result: Result<WireResponse, TidelogError>, _ url: String) -> String? {
        switch result {
        case .success(let response):
            guard FailureClass(status: response.status) != .permanent else { return nil }
            return "The service responded to GET \(URLText.withoutSecrets(url)) with status \(response.status)."
        case .failure(let error):
            guard error.code == .unreachable, policy.waitsForConnection else { return nil }
            return error.message
        }
    }
}
