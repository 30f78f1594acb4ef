import ODataWire
import OfflineStore
import Operations
import SyncCore

extension UploadReport {
    /// Stores the longest delay that the service requested for operations that it deferred.
    mutating func addRetryAfter(_ batch: UploadedBatch, now: Timestamp) {
        for case .failed(let response, _)? in batch.changeSets.map(\.outcome)
        where FailureClass(status: response.status) == .transient {
            guard let delay = RetryAfter.delay(response.headers, now: now) else { continue }
            retryAfter = max(retryAfter ?? .zero, delay)
        }
    }
}
