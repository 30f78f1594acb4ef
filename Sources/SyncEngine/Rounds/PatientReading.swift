import ODataWire
import Operations
import SyncCore

/// Reads for a download, and waits where the service is busy, as far as the policy's patience goes. To ask a second time does
/// no harm, so it goes on with the page that it was at.
struct PatientReading {
    let session: ServiceSession
    private let policy: RetryPolicy
    private var waiting: Waiting
    /// How many attempts in a row have come to nothing.
    private var failures = 0
    /// How many had before this download, so that the delays go on growing.
    private var failuresBefore = 0

    init(_ store: LocalStore, _ session: ServiceSession, _ policy: RetryPolicy) {
        self.session = session
        self.policy = policy
        waiting = Waiting(store, session.activity, policy, work: "download")
    }

    /// Waits for what an earlier upload or download has left to be waited for.
    ///
    /// - Parameter ignoresPostponement: does not wait.
    mutating func begin(ignoresPostponement: Bool) async throws(TidelogError) {
        let store = waiting.store
        // Where it put off single operations, the service has said nothing of reading.
        guard let postponed = try await store.postponement, try await store.pendingOperations(.deferred).isEmpty
        else { return }
        let age = store.environment.now().subtractingReportingOverflow(postponed.upload.notBefore).partialValue
        if age < policy.longestDelay.milliseconds { failuresBefore = postponed.upload.attempt }
        if !ignoresPostponement { try await waiting.wait(for: postponed) }
    }

    /// Any lasting status comes back as a response.
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

    /// The same, with the body of a success in chunks: what became of it is to be said with ``finished()`` or
    /// ``mayAskAgain(after:_:)``.
    @inline(never) @_optimize(none)
    mutating func stream(_ url: String, headers: HTTPHeaders) async throws(TidelogError) -> StreamedResponse {
        while true {
            let result = await attemptStream(url, headers)
            guard let reason = reason(result.map(\.response), url) else { return try result.get() }
            guard try await waits(reason, (try? result.get())?.response) else { return try result.get() }
        }
    }

    /// Says that a body came whole.
    mutating func finished() { (failures, failuresBefore) = (0, 0) }

    /// After a body broke off: waits as after an answer that did not come.
    ///
    /// - Returns: false where that would be longer than the policy's patience, or of no use.
    mutating func mayAskAgain(after error: TidelogError, _ url: String) async throws(TidelogError) -> Bool {
        guard let reason = reason(.failure(error), url) else { return false }
        return try await waits(reason, nil)
    }

    /// Waits before another attempt; false where there is to be none.
    private mutating func waits(_ reason: String, _ response: WireResponse?) async throws(TidelogError) -> Bool {
        failures += 1
        let retryAfter = response.flatMap { RetryAfter.delay($0.headers, now: waiting.store.environment.now()) }
        // Only a service that asks for it is left alone by uploads too. A query that a gateway gives up on each time says
        // nothing of them.
        let isBusy = response.map { FailureClass(status: $0.status) == .transient } ?? false
        let attempt = failuresBefore + failures
        let (postponed, delay) =
            isBusy
            ? try await waiting.postpone(reason, attempt: attempt, retryAfter: retryAfter)
            : waiting.next(reason, attempt: attempt, retryAfter: retryAfter)
        guard failures < policy.attempts, waiting.hasPatience(for: delay) else { return false }
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

    /// Why it may go better later; nil where it may not.
    private func reason(_ result: Result<WireResponse, TidelogError>, _ url: String) -> String? {
        switch result {
        case .success(let response):
            guard FailureClass(status: response.status) != .permanent else { return nil }
            return "The service answered GET \(URLText.withoutSecrets(url)) with status \(response.status)."
        case .failure(let error):
            guard error.code == .unreachable, policy.waitsForConnection else { return nil }
            return error.message
        }
    }
}
