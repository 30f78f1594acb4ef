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

    /// The entity by its links, without values.
    func reference(_ row: EntityRow) throws -> EntitySnapshot {
        var snapshot = try snapshot(row)
        snapshot.values = PropertyValues()
        return snapshot
    }

    /// The entities that a navigation property leads to by links that the service does not know yet.
    func localTargets(of row: EntityRow, _ property: Property) throws -> Set<EntityID> {
        guard let end = property.navigation else { return [] }
        let local = try state.links(of: row.id, along: end).filter { $0.inLocal && !$0.inBase }
        return Set(local.map { $0.target(along: end) })
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
