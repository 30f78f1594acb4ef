import EDM
import ODataWire
import Operations
import SyncCore

/// Finds out what became of an operation whose answer was lost, by reading. Never by sending it again.
struct DoubtResolution {
    let store: LocalStore
    let session: ServiceSession

    enum Finding {
        case tookEffect(BatchID, EntityPayload, EntitySet)
        /// It did not take effect, or doing it twice is the same as doing it once.
        case mayBeSentAgain
        /// A create whose key the service gives: nothing that can be read tells.
        case unknown
    }

    func finding(_ pending: PendingOperation) async throws(TidelogError) -> Finding {
        guard case .inDoubt(let batch, _) = pending.status else { return .mayBeSentAgain }
        let model = try await store.model
        let reading = EntityReading(store: store, session: session)
        switch pending.operation.action {
        case .create(let creation, _):
            guard let set = model.findEntitySet(creation.set), let type = model.findEntityType(creation.type),
                let key = KeyPredicate(of: type, in: creation.values)
            else { return .unknown }
            guard let (payload, _) = try await reading.read(.entity(set: set, key: key), set) else {
                return .mayBeSentAgain
            }
            // The service may give keys of its own and have this one by chance: what was sent has to be there too.
            return holds(payload, creation.values) ? .tookEffect(batch, payload, set) : .unknown
        case .update(let id, let changes, let bindings):
            guard bindings.isEmpty, let (payload, set) = try await reading.read(id) else { return .mayBeSentAgain }
            return holds(payload, changes) ? .tookEffect(batch, payload, set) : .mayBeSentAgain
        // Setting or removing a link, and deleting, end in the same state however often they are done.
        case .delete, .createLink, .updateLink, .deleteLink: return .mayBeSentAgain
        }
    }

    private func holds(_ payload: EntityPayload, _ values: PropertyValues) -> Bool {
        values.allSatisfy {
            payload.values[$0.name] == $0.value || ($0.value == .null && payload.values[$0.name] == nil)
        }
    }
}
