import EDM
import OfflineStore

/// The classes of the entities that a store has in addition to those of its service: `ErrorArchive`, `RequestQueue`
/// and `EventLog`.
enum QueueClasses {
    static let metadata = EmbeddedMetadata(QueueModel.model)

    static let all: [String: EntityValue.Type] = [
        "Tidelog.ErrorArchiveEntry": OfflineODataErrorArchiveEntity.self,
        "Tidelog.RequestQueueEntry": OfflineODataRequestQueueEntity.self,
        "Tidelog.Event": OfflineODataEvent.self,
    ]
}
