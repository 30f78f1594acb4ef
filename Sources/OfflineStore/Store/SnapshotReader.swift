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

    /// Returns the targets of a navigation property whose links were not uploaded yet, by source.
    func localTargets(_ property: Property) throws -> LocalTargets {
        guard let end = property.navigation else { return [:] }
        return try localLinks.targets(along: end, in: state)
    }

    /// Targets of local links by their sources.
    typealias LocalTargets = [EntityID: Set<EntityID>]

    func snapshot(_ row: EntityRow) throws -> EntitySnapshot {
        var converter = try converter()
        return converter.snapshot(row)
    }

    /// Returns the entities in the same order.
    func snapshots(_ rows: [EntityRow]) throws -> [EntitySnapshot] {
        guard !rows.isEmpty else { return [] }
        var converter = try converter()
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
        return Converter(forms: forms, form: forms.last, queue: queue.count == 0 ? nil : queue)
    }

    /// Converts rows one by one, with the pending operations at the time of its creation.
    struct Converter {
        fileprivate let forms: LinkForms
        /// The form of the previous row, since the rows of a result usually have the same set and type.
        fileprivate var form: LinkForms.KnownForm
        /// The pending operations; nil for none.
        fileprivate let queue: PendingQueue?

        mutating func snapshot(_ row: consuming EntityRow) -> EntitySnapshot {
            if form.kind !== row.kind { form = forms.form(of: row.kind) }
            let (links, state) = (forms.links(row, form), state(of: row.id))
            return EntitySnapshot(row, links, state)
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
    /// The form that was used last.
    fileprivate private(set) var last = KnownForm(EntityKind(set: "", type: ""), nil, local: nil)

    /// The form of the links of a set and type.
    fileprivate final class KnownForm {
        let kind: EntityKind
        /// The plain form, if the links have that form.
        private let plain: SnapshotLinks.LinkSource?
        /// The key property of the plain form.
        private let key: PropertyLookup
        /// The form for entities that the service does not have.
        private let local: SnapshotLinks.LinkSource?

        init(_ kind: EntityKind, _ plain: PlainLinkForm?, local: PlainLinkForm?) {
            self.kind = kind
            self.plain = plain.map(SnapshotLinks.LinkSource.init)
            self.local = local.map(SnapshotLinks.LinkSource.init)
            key = PropertyLookup(plain?.key ?? "")
        }

        /// Returns the links of an entity if its readLink has the plain form, without regard to its own editLink.
        func links(_ row: borrowing EntityRow) -> SnapshotLinks? {
            if row.origin == .local {
                guard let local, let number = Int64(exactly: row.id.rawValue) else { return nil }
                return SnapshotLinks(local, number)
            }
            guard let plain, case .integer(let number)? = key(row.values) else { return nil }
            return SnapshotLinks(plain, number)
        }
    }

    init(state: WorkingSet, model: EntityDataModel, root: String) {
        self.model = model
        self.root = root
        names = EntityNames(storage: state, model: model, serviceRoot: root)
    }

    func readLink(_ row: EntityRow) -> String { form(of: row.kind).links(row)?.read ?? names.readLink(row) }

    /// Returns the links of an entity.
    ///
    /// - Parameter form: The form of its kind.
    fileprivate func links(_ row: borrowing EntityRow, _ form: KnownForm) -> SnapshotLinks {
        if !row.hasEditLink, let links = form.links(row) { return links }
        let readLink = readLink(row)
        return .texts(read: readLink, edit: row.editLink == nil ? readLink : names.editLink(row, readLink: readLink))
    }

    /// Returns the form for a set and type.
    fileprivate func form(of kind: EntityKind) -> KnownForm {
        if last.kind == kind { return last }
        last = KnownForm(
            kind, names.plainForm(set: kind.set, type: kind.type), local: names.localForm(set: kind.set))
        return last
    }
}

/// The links that were not uploaded yet, read once for all entities of a query. There are never many.
private final class LocalLinks {
    private struct Direction: Hashable {
        let relationship: String
        let isForward: Bool
    }

    private var targets: [Direction: SnapshotReader.LocalTargets]?

    func targets(along end: Navigation, in state: WorkingSet) throws -> SnapshotReader.LocalTargets {
        let targets = try targets ?? read(state)
        if targets.isEmpty { return [:] }
        let relationship = end.relationship
        return targets[Direction(relationship: relationship.name, isForward: relationship.isForward)] ?? [:]
    }

    private func read(_ state: WorkingSet) throws -> [Direction: SnapshotReader.LocalTargets] {
        var found: [Direction: SnapshotReader.LocalTargets] = [:]
        for link in try state.changedLinks() where link.inLocal {
            let name = link.relationship
            found[Direction(relationship: name, isForward: true), default: [:]][link.first, default: []]
                .insert(link.second)
            found[Direction(relationship: name, isForward: false), default: [:]][link.second, default: []]
                .insert(link.first)
        }
        targets = found
        return found
    }
}
