public import EDM
import OfflineStore
import Operations

/// The values of an entity object, and the parts that a store or service returned with them.
///
/// One structure, because each access to a stored property of a class is checked for exclusivity.
struct EntityContent {
    private var current: SequentialValues
    /// The values as last read or saved, if they can differ from the current ones.
    private var former = PropertyValues()
    /// Whether the current values are those last read or saved.
    private var isSaved = false
    var links = SnapshotLinks.texts(read: nil, edit: nil)
    var etag: String?
    private(set) var entityID: EntityID?
    var state = EntityValue.SyncState.unsaved
    private(set) var isLocal = false
    private(set) var isCreated = false
    private(set) var isFromLocalRelationship = false
    /// The addresses of the entity's streams, if it was read from a service.
    var streams: [StreamLinks] = []
    /// The provider with which the entity was read or saved, used to read relations; `nil` before.
    private(set) var factory: EntityFactory?

    /// Creates the content of a new entity.
    init(_ values: PropertyValues) { current = SequentialValues(values) }

    /// Only the set properties. An absent property is unset, which is neither null nor the default.
    var values: PropertyValues {
        get { current.values }
        _modify {
            if isSaved { (former, isSaved) = (current.values, false) }
            yield &current.values
        }
    }

    /// The values as last read or saved. An update contains the differences.
    var savedValues: PropertyValues {
        get { isSaved ? current.values : former }
        set { (former, isSaved) = (newValue, false) }
    }

    /// The properties whose values differ from those last read or saved.
    var changedValues: PropertyValues {
        if isSaved { return PropertyValues() }
        return PropertyValues(values.filter { former[$0.name] != $0.value }.map { ($0.name, $0.value) })
    }

    /// Returns the value of a property, or `nil` if it is unset. Stores its place, at which the next search begins.
    mutating func value(of name: String) -> Value? { current.value(of: name) }

    /// Marks the values as saved.
    mutating func markValuesSaved() { (former, isSaved) = (PropertyValues(), true) }

    /// Moves the content out of a snapshot. Afterwards the snapshot has no useful values.
    mutating func move(from snapshot: inout EntitySnapshot, _ factory: EntityFactory) {
        swap(&current.values, &snapshot.values)
        markValuesSaved()
        // Results of `$apply` have no links.
        swap(&links, &snapshot.links)
        swap(&streams, &snapshot.streams)
        etag = snapshot.etag
        entityID = snapshot.entityID
        state =
            switch snapshot.state {
            case .clean: .clean
            case .pending: .pending
            case .error: .error
            }
        isLocal = snapshot.isLocal
        isCreated = snapshot.isCreated
        isFromLocalRelationship = snapshot.isFromLocalRelationship
        self.factory = factory
    }
}

extension EntityValue {
    /// Only the set properties. An absent property is unset, which is neither null nor the default.
    final var values: PropertyValues {
        get { content.values }
        _modify { yield &content.values }
    }

    /// The values as last read or saved. An update contains the differences.
    final var savedValues: PropertyValues {
        get { content.savedValues }
        set { content.savedValues = newValue }
    }

    /// The provider with which the entity was read or saved, used to read relations; `nil` before.
    final var factory: EntityFactory? { content.factory }

    /// Returns the value of a property, or `nil` if it is unset.
    @usableFromInline
    final func value(of name: String) -> Value? { content.value(of: name) }
}
