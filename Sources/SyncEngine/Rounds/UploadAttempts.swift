import OfflineStore
import Operations
import SyncCore

/// Runs upload rounds and waits between them within the limits of the retry policy if the service is busy.
///
/// Postponements are logged, so they also apply after a restart.
struct UploadAttempts {
    let store: LocalStore
    let activity: SyncActivity
    let options: UploadOptions

    private var policy: RetryPolicy { options.retry }
    private var environment: SyncEnvironment { store.environment }

    /// A retryable failure of a round.
    private struct RetryableFailure {
        var reason: String
        var retryAfter: Duration?
        /// The number of consecutive failed attempts, including this one.
        var attempt = 1
        /// The error that is thrown if there is no retry; nil if the report contains everything.
        var error: TidelogError?
    }

    /// Runs rounds until one succeeds, fails permanently, or the policy ends the retries.
    ///
    /// - Parameter round: One round. It does not send the given operations, which this upload has already seen
    ///   rejected.
    func run(
        _ round: (_ refused: Set<SequenceNumber>) async throws(TidelogError) -> UploadReport
    ) async throws(TidelogError) -> UploadReport {
        var whole = UploadReport()
        var waiting = Backoff(store, activity, policy, work: "upload")
        try await waitForPostponement(&waiting)
        for attempt in 1... {
            let before = try await store.postponement
            var obstacle: RetryableFailure?
            switch await result(of: round, Set(whole.rejected.map(\.operation)), waiting) {
            case .success(let report):
                whole.add(report)
                obstacle = try await self.obstacle(report)
            case .failure(let error):
                if let report = error.upload { whole.add(report) }
                obstacle = self.obstacle(error)
                if obstacle == nil { throw error.after(whole) }
            }
            guard var obstacle else { break }
            if obstacle.error != nil { obstacle.attempt = (before?.upload.attempt ?? 0) + 1 }
            let (postponed, delay) = try await waiting.postpone(
                obstacle.reason, attempt: obstacle.attempt, retryAfter: obstacle.retryAfter)
            guard policy.attempts > attempt, waiting.allowsWaiting(for: delay) else {
                if let error = obstacle.error { throw error.after(whole) }
                whole.postponed = postponed
                break
            }
            try await waiting.wait(delay, for: postponed)
        }
        return whole
    }

    /// Waits for the postponement that an earlier upload recorded.
    private func waitForPostponement(_ waiting: inout Backoff) async throws(TidelogError) {
        guard !options.ignoresPostponement, let postponed = try await store.postponement,
            try await store.queue.hasQueuedOperations()
        else { return }
        try await waiting.wait(for: postponed)
    }

    /// Returns the result of one round.
    private func result(
        of round: (_ refused: Set<SequenceNumber>) async throws(TidelogError) -> UploadReport,
        _ refused: Set<SequenceNumber>, _ waiting: Backoff
    ) async -> Result<UploadReport, TidelogError> {
        do throws(TidelogError) {
            return .success(try await round(refused))
        } catch {
            if obstacle(error) == nil, let report = error.upload { await logDeferral(report, waiting) }
            return .failure(error)
        }
    }

    /// Logs the deferral of operations even if the upload ends for another reason. If logging fails, the next upload
    /// contacts the service without waiting.
    private func logDeferral(_ report: UploadReport, _ waiting: Backoff) async {
        guard let obstacle = try? await obstacle(report) else { return }
        _ = try? await waiting.postpone(obstacle.reason, attempt: obstacle.attempt, retryAfter: obstacle.retryAfter)
    }

    // MARK: Obstacles

    /// Returns the failure that the deferred operations of a round represent.
    private func obstacle(_ report: UploadReport) async throws(TidelogError) -> RetryableFailure? {
        guard let first = report.deferred.first else { return nil }
        let deferred = try await store.queue.pendingOperations(.deferred)
        let attempt = deferred.map(\.deferrals).max() ?? 1
        return RetryableFailure(
            reason:
                "The service postponed operation \(first.operation): \(first.refusal.status) \(first.refusal.message)",
            retryAfter: report.retryAfter, attempt: attempt)
    }

    /// Returns the failure that an error represents, or nil if a retry cannot help.
    private func obstacle(_ error: TidelogError) -> RetryableFailure? {
        if let answer = error.cause as? UnsuccessfulResponse {
            guard FailureClass(status: answer.status) != .permanent else { return nil }
            let retryAfter = RetryAfter.delay(answer.headers, now: environment.now())
            return RetryableFailure(reason: error.message, retryAfter: retryAfter, error: error)
        }
        guard error.code == .unreachable, policy.waitsForConnection else { return nil }
        return RetryableFailure(reason: error.message, error: error)
    }
}

extension PendingOperation {
    /// The number of consecutive deferrals by the service.
    var deferrals: Int { if case .deferred(_, let attempts) = status { attempts } else { 0 } }
}
