import EDM
import ODataWire
import Operations
import SyncCore
import Views

/// Makes copies of entities for the app: values, links to read and edit them by, and whether something is pending on them.
struct SnapshotReader {
    private let state: SQLiteState
    private let model: EntityDataModel
    private let names: EntityNames<SQLiteState>

    init(state: SQLiteState, model: EntityDataModel) throws {
        self.state = state
        self.model = model
        let header = try state.header()
        names = EntityNames(storage: state, model: model, serviceRoot: header.service?.root ?? "")
    }

    func snapshot(_ row: EntityRow, expanded: [EntitySnapshot.Expanded] = []) throws -> EntitySnapshot {
        let standing: EntitySnapshot.State =
            switch try state.standing(of: row.id) {
            case .clean: .clean
            case .pending: .pending
            case .rejected: .error
            }
        return EntitySnapshot(
            set: row.set, type: row.type, values: row.values, etag: row.etag, readLink: names.readLink(row),
            editLink: names.editLink(row), entityID: row.id, state: standing, expanded: expanded)
    }
}
