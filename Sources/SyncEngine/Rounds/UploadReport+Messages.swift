import ODataWire
import OfflineStore
import SyncCore

extension UploadReport {
    /// Adds the messages in the headers of successful responses.
    mutating func addMessages(of batch: UploadedBatch) {
        for changeSet in batch.changeSets {
            guard case .members(let responses)? = changeSet.outcome else { continue }
            for (place, response) in zip(changeSet.requests.indices, responses) {
                messages += ServiceMessage.all(in: response.headers, about: changeSet.requests[place].operation)
            }
        }
    }
}
