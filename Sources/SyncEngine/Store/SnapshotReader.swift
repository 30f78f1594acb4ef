import EDM
import ODataWire
import Operations
import SyncCore
import Views

/// Makes copies of entities for the app: values, links to read and edit them by, and whether something is pending on them.
struct SnapshotReader {
    private let state: SQLiteState
    private let model: EntityDataModel
    private let encoder: RequestEncoder

    init(state: SQLiteState, model: EntityDataModel) throws {
        self.state = state
        self.model = model
        let header = try state.header()
        encoder = RequestEncoder(version: model.version, model: model, serviceRoot: header.service?.root ?? "")
    }

    func snapshot(_ row: EntityRow, expanded: [EntitySnapshot.Expanded] = []) throws -> EntitySnapshot {
        let readLink = readLink(row)
        let standing: EntitySnapshot.State =
            switch try state.standing(of: row.id) {
            case .clean: .clean
            case .pending: .pending
            case .rejected: .error
            }
        return EntitySnapshot(
            set: row.set, type: row.type, values: row.values, etag: row.etag, readLink: readLink,
            editLink: row.editLink ?? readLink, entityID: row.id, state: standing, expanded: expanded)
    }

    /// With the real key as soon as the service has confirmed it, with the entity ID before.
    func readLink(_ row: EntityRow) -> String {
        guard row.origin != .local, let set = model.findEntitySet(row.set), let type = model.findEntityType(row.type)
        else {
            return "\(row.set)(\(row.id))"
        }
        if set.isSingleton { return set.name }
        guard let key = KeyPredicate(of: type, in: row.values) else { return "\(row.set)(\(row.id))" }
        return encoder.url(of: .entity(set: set, key: key))
    }
}
