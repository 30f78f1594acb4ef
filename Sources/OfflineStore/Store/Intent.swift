package import EDM
public import ODataQuery
public import Operations
public import SyncCore

/// An action of an app before its addresses are resolved to entities. It is the same for a store and for a service.
///
/// Indirect, because intents are copied often and should be small.
package indirect enum Intent: Sendable {
    case create(EntityDraft, in: Parent?)
    case update(EntityAddress, changes: PropertyValues, bindings: [BindingDraft], inline: [InlineDraft])
    case delete(EntityAddress)
    case createLink(from: EntityAddress, navigation: String, to: EntityAddress)
    case updateLink(from: EntityAddress, navigation: String, to: EntityAddress)
    /// Removes a link. `to` may be nil for a to-one navigation property.
    case deleteLink(from: EntityAddress, navigation: String, to: EntityAddress?)
    /// Calls an action. A store queues the call.
    case invoke(ActionDraft)

    package typealias Parent = EntityParent<EntityAddress>

    /// The number of the draft of a creation; `nil` for other intents.
    package var createdDraft: Int? { if case .create(let draft, _) = self { draft.entity } else { nil } }
}

/// The way in which an app refers to an entity.
public enum EntityAddress: Sendable, Hashable {
    /// A readLink or editLink, current or superseded.
    case link(String)
    /// The permanent ID in the store, which the service does not have.
    case id(EntityID)
    /// A new entity of the same call.
    case draft(Int)
    /// An entity identified by its key.
    case key(set: String, KeyPredicate)
}

/// A new entity, identified by a number within one call.
package typealias EntityDraft = EntityCreation<Int, EntityAddress>
package typealias BindingDraft = EntityBinding<EntityAddress>
package typealias InlineDraft = EntityDraft.Inline

extension EntityDraft {
    package var number: Int { entity }

    package init(
        number: Int, set: String, type: String, values: PropertyValues, bindings: [BindingDraft] = [],
        inline: [InlineDraft] = []
    ) {
        self.init(entity: number, set: set, type: type, values: values, bindings: bindings, inline: inline)
    }
}

/// The result of an intent: the sequence number of the operation, or of the undo that replaced it (offline), and the
/// new or changed entities.
package struct IntentResult: Sendable {
    package var sequence: SequenceNumber?
    /// The new entities by the numbers of their drafts. For an update or a link, the affected entity has the number -1.
    package var entities = ResultEntities()
    /// The new ETag of the changed entity if the service returned nothing else.
    package var etag: String?
    /// The result of an action; `nil` for all other intents, and for a call that a store has queued.
    package var returned: InvocationAnswer?

    package init(sequence: SequenceNumber? = nil) { self.sequence = sequence }

    /// The number of the affected entity of an update or link.
    package static let subject = -1
}

/// Entities by the numbers of their drafts. A list, because most results have one entity.
package struct ResultEntities: Sendable {
    package var all: [(number: Int, snapshot: EntitySnapshot)] = []

    package subscript(number: Int) -> EntitySnapshot? {
        get { all.first { $0.number == number }?.snapshot }
        set {
            all.removeAll { $0.number == number }
            if let newValue { all.append((number, newValue)) }
        }
    }
}

/// An immutable copy of an entity as it was read.
@usableFromInline
package struct EntitySnapshot: Sendable, Hashable {
    /// The row of the entity as it was read. Its ID is 0, which no entity has, if it was read from a service.
    @usableFromInline private(set) var row: EntityRow
    package var links: SnapshotLinks
    package var state: SyncState
    /// A Boolean value that indicates whether the entity was created or changed locally and not uploaded yet
    /// (`sap.islocal()`).
    package private(set) var isLocal = false
    /// A Boolean value that indicates whether the expanded link to the entity was created locally and not uploaded yet.
    package var isFromLocalRelationship = false
    package var expanded: [Expanded]

    @inlinable package var kind: EntityKind { row.kind }
    @inlinable package var set: String { row.set }
    @inlinable package var type: String { kind.type }

    /// The entity ID; nil for an entity that was read from a service.
    package var entityID: EntityID? { row.id.rawValue == 0 ? nil : row.id }

    /// A Boolean value that indicates whether the service does not have the entity yet.
    package var isCreated: Bool { row.origin == .local }

    package var values: PropertyValues {
        get { row.values }
        _modify { yield &row.values }
    }

    package var etag: String? {
        get { row.etag }
        set { row.etag = newValue }
    }

    /// The readLink; empty for a row that is no entity.
    package var readLink: String {
        get { links.read ?? "" }
        set { links.read = newValue.isEmpty ? nil : newValue }
    }

    /// The editLink; empty for a row that is no entity.
    package var editLink: String {
        get { links.edit ?? "" }
        set { links.edit = newValue.isEmpty ? nil : newValue }
    }

    package enum SyncState: String, Sendable, Hashable {
        /// The state that the service last returned.
        case clean
        /// Operations on the entity are pending.
        case pending
        /// The service rejected an operation on the entity.
        case error
    }

    package struct Expanded: Sendable, Hashable {
        package var navigation: String
        package var entities: [EntitySnapshot]
        /// The number of entities without `$top` and `$skip`, if the query requested it.
        package var count: Int64?
        /// Whether the expansion contains entities, references without values, or only the ``count``.
        package var form: ExpandItem.ExpandForm

        package init(
            navigation: String, entities: [EntitySnapshot], count: Int64? = nil, form: ExpandItem.ExpandForm = .entities
        ) {
            self.navigation = navigation
            self.entities = entities
            self.count = count
            self.form = form
        }
    }

    package init(
        set: String, type: String, values: PropertyValues, etag: String? = nil, readLink: String, editLink: String,
        entityID: EntityID? = nil, state: SyncState = .clean, expanded: [Expanded] = []
    ) {
        row = EntityRow(
            id: entityID ?? EntityID(rawValue: 0), set: set, type: type, values: values, etag: etag, origin: .service)
        links = .texts(read: readLink.isEmpty ? nil : readLink, edit: editLink.isEmpty ? nil : editLink)
        self.state = state
        self.expanded = expanded
    }

    /// Creates a snapshot of an entity of the store.
    ///
    /// - Parameter row: The entity. It is moved, because a copy retains all of its parts, and is not changed, because the
    ///   optimizer (Swift 6.3) moves only an unchanged parameter.
    init(_ row: consuming EntityRow, _ links: consuming SnapshotLinks, _ state: SyncState) {
        isLocal = row.origin == .local || state != .clean
        self.links = links
        self.state = state
        expanded = []
        self.row = row
    }
}

extension EntitySnapshot {
    /// Returns whether the app sees no difference. Other properties of the rows may differ.
    @usableFromInline
    package static func == (a: EntitySnapshot, b: EntitySnapshot) -> Bool {
        a.row.id == b.row.id && a.kind == b.kind && a.state == b.state && a.isLocal == b.isLocal
            && a.isCreated == b.isCreated && a.isFromLocalRelationship == b.isFromLocalRelationship
            && a.values == b.values && a.etag == b.etag && a.links == b.links && a.expanded == b.expanded
    }

    @usableFromInline
    package func hash(into hasher: inout Hasher) {
        hasher.combine(entityID)
        hasher.combine(row.kind)
        hasher.combine(row.values)
    }
}
