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
    private let localLinks = LocalLinks()

    init(state: SQLiteState, model: EntityDataModel, prefetch: Prefetch? = nil) throws {
        self.state = state
        self.prefetch = prefetch ?? Prefetch(state: state, model: model)
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
        return try localLinks.targets(of: row.id, end, in: state)
    }

    func snapshot(_ row: EntityRow, expanded: [EntitySnapshot.Expanded] = []) throws -> EntitySnapshot {
        let standing: EntitySnapshot.State =
            switch try prefetch.standing(of: row.id) {
            case .clean: .clean
            case .pending: .pending
            case .rejected: .error
            }
        let readLink = names.readLink(row)
        var snapshot = EntitySnapshot(
            set: row.set, type: row.type, values: row.values, etag: row.etag, readLink: readLink,
            editLink: names.editLink(row, readLink: readLink), entityID: row.id, state: standing, expanded: expanded)
        snapshot.isLocal = row.origin == .local || standing != .clean
        return snapshot
    }
}

/// The links that the service does not know yet, read once for all entities of a query: there are never many.
private final class LocalLinks {
    private struct Source: Hashable {
        let relationship: String
        let isForward: Bool
        let entity: EntityID
    }

    private var targets: [Source: Set<EntityID>]?

    func targets(of entity: EntityID, _ end: Navigation, in state: SQLiteState) throws -> Set<EntityID> {
        let targets = try targets ?? read(state)
        let relationship = end.relationship
        return targets[
            Source(relationship: relationship.name, isForward: relationship.isForward, entity: entity)] ?? []
    }

    private func read(_ state: SQLiteState) throws -> [Source: Set<EntityID>] {
        var found: [Source: Set<EntityID>] = [:]
        for link in try state.changedLinks() where link.inLocal {
            let name = link.relationship
            found[Source(relationship: name, isForward: true, entity: link.first), default: []].insert(link.second)
            found[Source(relationship: name, isForward: false, entity: link.second), default: []].insert(link.first)
        }
        targets = found
        return found
    }
}
