import OfflineStore
import Operations

/// The identity and the state of an entity when it was last read or saved.
struct EntityStatus {
    var entityID: EntityID?
    var state = EntityValue.SyncState.unsaved
    var isLocal = false
    var isCreated = false
    var isFromLocalRelationship = false
}

extension EntityStatus {
    init(_ snapshot: borrowing EntitySnapshot) {
        entityID = snapshot.entityID
        state =
            switch snapshot.state {
            case .clean: .clean
            case .pending: .pending
            case .error: .error
            }
        isLocal = snapshot.isLocal
        isCreated = snapshot.isCreated
        isFromLocalRelationship = snapshot.isFromLocalRelationship
    }
}
