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
    func localTargets(of entity: EntityID, _ property: Property) throws -> Set<EntityID> {
        guard let end = property.navigation else { return [] }
        return try localLinks.targets(of: entity, end, in: state)
    }

    func snapshot(_ row: EntityRow) throws -> EntitySnapshot { try converter().snapshot(row) }

    /// Returns the entities in the same order.
    func snapshots(_ rows: [EntityRow]) throws -> [EntitySnapshot] {
        guard !rows.isEmpty else { return [] }
        let converter = try converter()
        var snapshots: [EntitySnapshot] = []
        snapshots.reserveCapacity(rows.count)
        // The loop over the array itself would copy each row. The span of an array needs macOS 26.
        let slice = rows[...]
        let rows = slice.span
        for place in rows.indices { snapshots.append(converter.snapshot(rows[place])) }
        return snapshots
    }

    /// Returns a converter for the rows of one result.
    func converter() throws -> Converter {
        let queue = try state.queue.load()
        return Converter(forms: forms, queue: queue.count == 0 ? nil : queue)
    }

    /// Converts rows one by one, with the pending operations at the time of its creation.
    struct Converter {
        fileprivate let forms: LinkForms
        /// The pending operations; nil for none.
        fileprivate let queue: PendingQueue?

        func snapshot(_ row: borrowing EntityRow) -> EntitySnapshot {
            EntitySnapshot(row, forms.links(row), state(of: row.id))
        }

        private func state(of id: EntityID) -> EntitySnapshot.SyncState {
            guard let queue else { return .clean }
            return switch queue.pendingState(of: id) {
            case .clean: .clean
            case .pending: .pending
            case .rejected: .error
            }
        }
    }
}

/// The link forms of a store's entities, for one model and service root.
final class LinkForms {
    let model: EntityDataModel
    let root: String
    let names: EntityNames<WorkingSet>
    /// The last used form, since the rows of a result usually have the same set and type.
    private var last: KnownForm?

    /// The form of the links of a set and type.
    private final class KnownForm {
        let kind: EntityKind
        /// The plain form, if the links have that form.
        private let plain: PlainLinkForm?
        /// The key property of the plain form.
        private let key: PropertyLookup
        /// The form for entities that the service does not have.
        private let local: PlainLinkForm?

        init(_ kind: EntityKind, _ plain: PlainLinkForm?, local: PlainLinkForm?) {
            (self.kind, self.plain, self.local) = (kind, plain, local)
            key = PropertyLookup(plain?.key ?? "")
        }

        /// Returns the links of an entity, or nil if they do not have the form.
        func links(_ row: borrowing EntityRow) -> SnapshotLinks? {
            if row.origin == .local {
                guard let local, let number = Int64(exactly: row.id.rawValue) else { return nil }
                return .plain(local, number)
            }
            guard let plain, case .integer(let number)? = key(row.values) else { return nil }
            return .plain(plain, number)
        }
    }

    init(state: WorkingSet, model: EntityDataModel, root: String) {
        self.model = model
        self.root = root
        names = EntityNames(storage: state, model: model, serviceRoot: root)
    }

    func readLink(_ row: EntityRow) -> String { plain(row)?.read ?? names.readLink(row) }

    /// Returns the links of an entity.
    func links(_ row: borrowing EntityRow) -> SnapshotLinks {
        if row.editLink == nil, let links = plain(row) { return links }
        let readLink = readLink(row)
        return .texts(read: readLink, edit: row.editLink == nil ? readLink : names.editLink(row, readLink: readLink))
    }

    /// Returns the links of an entity if its readLink has the plain form, without regard to its own editLink.
    private func plain(_ row: borrowing EntityRow) -> SnapshotLinks? {
        if let last, last.kind == row.kind { return last.links(row) }
        let kind = row.kind
        let form = KnownForm(
            kind, names.plainForm(set: kind.set, type: kind.type), local: names.localForm(set: kind.set))
        last = form
        return form.links(row)
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
