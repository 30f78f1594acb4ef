import EDM
import Operations
import SyncCore
import Views

/// Converts rows to immutable copies for the app: values, readLink and editLink, and the pending state.
struct SnapshotReader {
    private let state: WorkingSet
    private let forms: LinkForms
    private let localLinks = LocalLinks()

    /// Creates a reader.
    ///
    /// - Parameter forms: The link forms of the current model and service root.
    init(state: WorkingSet, forms: LinkForms) {
        self.state = state
        self.forms = forms
    }

    /// Returns the entity with its links and without values.
    func reference(_ row: EntityRow) throws -> EntitySnapshot {
        var snapshot = try snapshot(row)
        snapshot.values = PropertyValues()
        return snapshot
    }

    /// Returns the targets of a navigation property whose links were not uploaded yet.
    func localTargets(of row: EntityRow, _ property: Property) throws -> Set<EntityID> {
        guard let end = property.navigation else { return [] }
        return try localLinks.targets(of: row.id, end, in: state)
    }

    func snapshot(_ row: EntityRow) throws -> EntitySnapshot {
        let pendingState: EntitySnapshot.SyncState =
            switch try state.pendingState(of: row.id) {
            case .clean: .clean
            case .pending: .pending
            case .rejected: .error
            }
        var snapshot: EntitySnapshot
        if row.editLink == nil, let (form, key) = forms.plain(row) {
            snapshot = EntitySnapshot(row, linkForm: form, key: key, state: pendingState)
        } else {
            let readLink = forms.readLink(row)
            snapshot = EntitySnapshot(
                set: row.set, type: row.type, values: row.values, etag: row.etag, readLink: readLink,
                editLink: row.editLink == nil ? readLink : forms.names.editLink(row, readLink: readLink),
                entityID: row.id, state: pendingState)
        }
        snapshot.isCreated = row.origin == .local
        snapshot.isLocal = row.origin == .local || pendingState != .clean
        return snapshot
    }
}

/// The link forms of a store's entities, for one model and service root.
final class LinkForms {
    let model: EntityDataModel
    let root: String
    let names: EntityNames<WorkingSet>
    /// The cached form, since the rows of a result usually have the same set and type.
    private var last: (set: String, type: String, form: PlainLinkForm?)?
    /// The key of the cached form.
    private var key: PropertyLookup?

    init(state: WorkingSet, model: EntityDataModel, root: String) {
        self.model = model
        self.root = root
        names = EntityNames(storage: state, model: model, serviceRoot: root)
    }

    func readLink(_ row: EntityRow) -> String {
        if let (form, key) = plain(row) { return form.link(key) }
        return names.readLink(row)
    }

    /// Returns the plain form of an entity's link and its key, if it has this form.
    func plain(_ row: EntityRow) -> (form: PlainLinkForm, key: Int64)? {
        guard row.origin != .local, let form = form(of: row), case .integer(let key)? = key?(row.values) else {
            return nil
        }
        return (form, key)
    }

    private func form(of row: EntityRow) -> PlainLinkForm? {
        if let last, last.set == row.set, last.type == row.type { return last.form }
        let form = names.plainForm(set: row.set, type: row.type)
        last = (row.set, row.type, form)
        key = form.map { PropertyLookup($0.key) }
        return form
    }
}

/// The links that were not uploaded yet, read once for all entities of a query. There are never many.
private final class LocalLinks {
    private struct Source: Hashable {
        let relationship: String
        let isForward: Bool
        let entity: EntityID
    }

    private var targets: [Source: Set<EntityID>]?

    func targets(of entity: EntityID, _ end: Navigation, in state: WorkingSet) throws -> Set<EntityID> {
        let targets = try targets ?? read(state)
        if targets.isEmpty { return [] }
        let relationship = end.relationship
        return targets[
            Source(relationship: relationship.name, isForward: relationship.isForward, entity: entity)] ?? []
    }

    private func read(_ state: WorkingSet) throws -> [Source: Set<EntityID>] {
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
