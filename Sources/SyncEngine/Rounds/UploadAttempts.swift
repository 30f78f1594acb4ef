import Operations
import SyncCore

/// Runs upload rounds, and waits between them where the service is busy, as far as the policy's patience goes. What is to be
/// waited for is in the log, so that it holds after a restart too.
struct UploadAttempts {
    let store: LocalStore
    let activity: SyncActivity
    let options: UploadOptions

    private var policy: RetryPolicy { options.retry }
    private var environment: SyncEnvironment { store.environment }

    /// Why a round did not get through, and when it may be tried again.
    private struct Obstacle {
        var reason: String
        var retryAfter: Duration?
        /// How many attempts in a row have come to nothing, this one included.
        var attempt = 1
        /// What the caller gets where nobody waits; nil where the report says all.
        var error: TidelogError?
    }

    /// - Parameter round: one round; does not send again what was refused in this upload already.
    func run(
        _ round: (_ refused: Set<SequenceNumber>) async throws(TidelogError) -> UploadReport
    ) async throws(TidelogError) -> UploadReport {
        var whole = UploadReport()
        var waiting = Waiting(store, activity, policy, work: "upload")
        try await waitForPostponement(&waiting)
        for attempt in 1... {
            let before = try await store.postponement
            var obstacle: Obstacle?
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
            guard policy.attempts > attempt, waiting.hasPatience(for: delay) else {
                if let error = obstacle.error { throw error.after(whole) }
                whole.postponed = postponed
                break
            }
            try await waiting.wait(delay, for: postponed)
        }
        return whole
    }

    /// Waits for what an earlier upload has left to be waited for.
    private func waitForPostponement(_ waiting: inout Waiting) async throws(TidelogError) {
        guard !options.ignoresPostponement, let postponed = try await store.postponement,
            try await store.hasQueuedOperations()
        else { return }
        try await waiting.wait(for: postponed)
    }

    /// The compiler's optimizer fails on a loop that awaits what throws, catches that, and throws it on (Swift 6.3.1). It
    /// must not put this into the loop either.
    @inline(never)
    @_optimize(none)
    private func result(
        of round: (_ refused: Set<SequenceNumber>) async throws(TidelogError) -> UploadReport,
        _ refused: Set<SequenceNumber>, _ waiting: Waiting
    ) async -> Result<UploadReport, TidelogError> {
        do throws(TidelogError) {
            return .success(try await round(refused))
        } catch {
            if obstacle(error) == nil, let report = error.upload { await putOff(report, waiting) }
            return .failure(error)
        }
    }

    /// What was put off is put off also where the upload goes no further for another reason. Where that cannot be logged, the
    /// next upload meets the service anew.
    @inline(never)
    @_optimize(none)
    private func putOff(_ report: UploadReport, _ waiting: Waiting) async {
        guard let obstacle = try? await obstacle(report) else { return }
        _ = try? await waiting.postpone(obstacle.reason, attempt: obstacle.attempt, retryAfter: obstacle.retryAfter)
    }

    // MARK: Obstacles

    /// What the service put off in the round.
    private func obstacle(_ report: UploadReport) async throws(TidelogError) -> Obstacle? {
        guard let first = report.deferred.first else { return nil }
        let deferred = try await store.pendingOperations(.deferred)
        let attempt = deferred.map(\.deferrals).max() ?? 1
        return Obstacle(
            reason:
                "The service put off operation \(first.operation): \(first.refusal.status) \(first.refusal.message)",
            retryAfter: report.retryAfter, attempt: attempt)
    }

    /// Nil for an error that does not go by itself.
    private func obstacle(_ error: TidelogError) -> Obstacle? {
        if let answer = error.cause as? UnsuccessfulAnswer {
            guard FailureClass(status: answer.status) != .permanent else { return nil }
            let retryAfter = RetryAfter.delay(answer.headers, now: environment.now())
            return Obstacle(reason: error.message, retryAfter: retryAfter, error: error)
        }
        guard error.code == .unreachable, policy.waitsForConnection else { return nil }
        return Obstacle(reason: error.message, error: error)
    }
}

extension PendingOperation {
    /// How often in a row the service has put it off.
    var deferrals: Int { if case .deferred(_, let attempts) = status { attempts } else { 0 } }
}
