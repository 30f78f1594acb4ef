import ODataWire
import Operations
import SyncCore

extension UploadReport {
    /// Keeps how long the service asked to wait for what it put off.
    mutating func note(_ outcomes: [ChangeSetOutcome], now: Timestamp) {
        for case .failed(let response, _) in outcomes where FailureClass(status: response.status) == .transient {
            guard let delay = RetryAfter.delay(response.headers, now: now) else { continue }
            retryAfter = max(retryAfter ?? .zero, delay)
        }
    }
}
