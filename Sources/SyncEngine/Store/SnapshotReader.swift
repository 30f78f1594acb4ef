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
    private let prefetch: Prefetch

    init(state: SQLiteState, model: EntityDataModel, prefetch: Prefetch? = nil) throws {
        self.state = state
        self.prefetch = prefetch ?? Prefetch(state: state, model: model)
        self.model = model
        let header = try state.header()
        names = EntityNames(storage: state, model: model, serviceRoot: header.service?.root ?? "")
    }

    func snapshot(_ row: EntityRow, expanded: [EntitySnapshot.Expanded] = []) throws -> EntitySnapshot {
        let standing: EntitySnapshot.State =
            switch try prefetch.standing(of: row.id) {
            case .clean: .clean
            case .pending: .pending
            case .rejected: .error
            }
        let readLink = names.readLink(row)
        return EntitySnapshot(
            set: row.set, type: row.type, values: row.values, etag: row.etag, readLink: readLink,
            editLink: names.editLink(row, readLink: readLink), entityID: row.id, state: standing, expanded: expanded)
    }
}
