public import EDM
import ODataQuery
import OfflineStore

/// An entity: property values that the app can read and change, its links, and its related entities.
///
/// A change affects only the object until it is passed to ``DataService/createEntity(_:headers:options:)`` or
/// ``DataService/updateEntity(_:headers:options:)``. Not `Sendable`: use an object from one task at a time, also
/// for reading.
open class EntityValue {
    /// The qualified name of the entity type that the class represents. Generated classes override it.
    ///
    /// `nil` for this class, whose objects may have any type.
    open class var entityTypeName: String? { nil }

    /// The type of the entity.
    public final let entityType: EntityType
    /// The entity set of the entity. Set it before a create if several sets have the same type.
    public final var entitySet: EntitySet? {
        get { placement?.set }
        set { placement = EntityPlacement(newValue, factory) }
    }

    /// The link for reading the entity.
    ///
    /// Present as soon as the entity has been created locally or read. It remains valid after the service has
    /// assigned the real key.
    public var readLink: String? {
        get { links.read }
        set { links.read = newValue }
    }
    /// The link for updating and deleting the entity; usually the same as ``readLink``.
    public var editLink: String? {
        get { links.edit }
        set { links.edit = newValue }
    }
    /// The ETag of the version that was last read or saved; `nil` if there is none.
    public final internal(set) var etag: String? {
        get { storedETag }
        set { storedETag = newValue }
    }
    /// The permanent ID of the entity in the store; `nil` for entities that were read directly from a service.
    public final var entityID: EntityID? { status.entityID }
    /// The state of the entity when it was last read or saved.
    public final internal(set) var state: SyncState {
        get { status.state }
        set { status.state = newValue }
    }
    /// A Boolean value that indicates whether the entity has local changes that the service has not confirmed, like
    /// `sap.islocal()`.
    ///
    /// Reflects the state at the time when the entity was read.
    public final var isLocal: Bool { status.isLocal }
    /// A Boolean value that indicates whether the entity was created in the store and the service does not have it yet.
    public final var isCreated: Bool { status.isCreated }
    /// A Boolean value that indicates whether the entity was deleted with this object.
    public final internal(set) var isDeleted = false
    /// For an expanded entity: a Boolean value that indicates whether the link to it was created locally and is not
    /// yet confirmed.
    public final var isFromLocalRelationship: Bool { status.isFromLocalRelationship }
    /// The sequence number of the last operation that was logged for this object; `nil` online.
    public final internal(set) var lastOperation: SequenceNumber?

    /// The synchronization state of an entity.
    public enum SyncState: String, Sendable {
        /// Created by the app and not yet passed to a service.
        case unsaved
        /// As last returned by the service.
        case clean
        /// Has operations that are waiting for an upload.
        case pending
        /// Has an operation that the service rejected.
        case error
    }

    // Only this file changes the following properties, by storing a new value. An access that lasts longer, such as a
    // call of a mutating method, would have each use of the property checked for exclusivity.

    /// Only the set properties. An absent property is unset, which is neither null nor the default.
    private final var current: PropertyValues
    /// A position in ``current``.
    private final var position = PropertyPosition()
    /// The values as last read or saved, if they can differ from the current ones.
    private final var former = PropertyValues()
    /// Whether the current values are those last read or saved.
    private final var isSaved = false
    private final var storedLinks = SnapshotLinks.texts(read: nil, edit: nil)
    private final var storedETag: String?
    private final var status = EntityStatus()
    /// The entity set, and the provider with which the entity was read or saved.
    private final var placement: EntityPlacement?
    private final var bound: [(property: Property, entity: EntityValue)] = []
    private final var relations = RelationList()

    /// Creates an entity of the given type.
    ///
    /// - Parameter withDefaults: whether every non-nullable property, including keys, receives the default of the
    ///   metadata or of its type (0, "", false, 1970-01-01). Enumerations and complex values receive a default only
    ///   in ``init(_:_:withDefaults:)``, which has access to their types. Pass `false` for entities whose key the
    ///   service assigns: the second entity with a default key would be refused as a duplicate.
    public required init(_ entityType: EntityType, withDefaults: Bool = false) {
        self.entityType = entityType
        current = withDefaults ? DefaultValues(model: nil).of(entityType) : PropertyValues()
    }

    /// Returns an entity of the given type with all properties unset.
    public static func ofType(_ type: EntityType) -> EntityValue { EntityValue(type) }

    // MARK: Values

    /// Returns the value of the property, or `nil` if it is unset.
    public func dataValue(for property: some PropertyReference) -> Value? { value(of: property.property.name) }

    /// Sets the value of the property. `nil` sets it to null. The type of the value is checked when the entity is
    /// saved.
    public func setDataValue(for property: some PropertyReference, to value: Value?) {
        values[property.property.name] = value ?? .null
    }

    /// Unsets the property: neither null nor a default is sent, and the service decides.
    public func unsetDataValue(for property: some PropertyReference) { values[property.property.name] = nil }

    /// Returns a Boolean value that indicates whether the property is set; null counts as set.
    public func hasDataValue(for property: some PropertyReference) -> Bool { values[property.property.name] != nil }

    /// The value of a declared property or, for open types, a dynamic one. Setting `nil` unsets the property.
    public subscript(name: String) -> Value? {
        get { value(of: name) }
        set { values[name] = newValue }
    }

    /// The names and values of all set properties, in the order of the metadata if the entity was read from a
    /// service.
    public var properties: [(name: String, value: Value)] { values.map { ($0.name, $0.value) } }

    /// The key, or `nil` if a key property is unset or null.
    public var key: KeyPredicate? { KeyPredicate(of: entityType, in: values) }

    // MARK: Relationships

    /// Binds an existing entity to a navigation property, or an entity created earlier in the same change set.
    ///
    /// Takes effect with the next create or update of this entity.
    public func bindEntity(_ entity: EntityValue, to property: some PropertyReference) {
        bindings.append((property.property, entity))
    }

    /// Returns the target of a single-valued navigation property, or `nil` if it has not been expanded or loaded.
    public func relatedEntity(_ property: some PropertyReference) -> EntityValue? {
        related[property.property.name]?.target
    }

    /// Returns the targets of a navigation property; empty if they have not been expanded or loaded.
    public func relatedEntities(_ property: some PropertyReference) -> [EntityValue] {
        related[property.property.name]?.list ?? []
    }

    /// Returns a Boolean value that indicates whether the navigation property has been expanded or loaded.
    public func isLoaded(_ property: some PropertyReference) -> Bool {
        related[property.property.name].map { $0.base != nil && $0.edit == .none } ?? false
    }

    /// Returns a new entity with the same structural properties, including the key.
    ///
    /// Unset or change the key before you create the copy. Navigation properties, links and the ETag are not copied.
    public func copy() -> Self {
        let copy = Self(entityType)
        copy.entitySet = entitySet
        copy.values = values
        return copy
    }

    /// Returns a new entity with the same structural properties, except for those of the key, which are unset.
    ///
    /// The copy can be created as it is if the service assigns the key. Key properties within complex values are
    /// copied.
    public func copyWithoutKey() -> Self {
        let copy = copy()
        for property in entityType.keyProperties { copy.values[property.name] = nil }
        return copy
    }
}

// MARK: Contents

extension EntityValue {
    /// Only the set properties. An absent property is unset, which is neither null nor the default.
    final var values: PropertyValues {
        get { current }
        _modify {
            var values = PropertyValues()
            swap(&values, &current)
            if isSaved { (former, isSaved) = (values, false) }
            defer { (current, position) = (values, PropertyPosition()) }
            yield &values
        }
    }

    /// The values as last read or saved. An update contains the differences.
    final var savedValues: PropertyValues {
        get { isSaved ? current : former }
        set { (former, isSaved) = (newValue, false) }
    }

    /// The content of an update: the properties whose values differ from those last read or saved.
    final var changedValues: PropertyValues {
        if isSaved { return PropertyValues() }
        let former = former
        return PropertyValues(values.filter { former[$0.name] != $0.value }.map { ($0.name, $0.value) })
    }

    final var bindings: [(property: Property, entity: EntityValue)] {
        get { bound }
        _modify {
            var list: [(property: Property, entity: EntityValue)] = []
            swap(&list, &bound)
            defer { bound = list }
            yield &list
        }
    }

    /// The targets of each navigation property: expanded, loaded, or set by the app for a deep insert.
    final var related: RelationList {
        get { relations }
        _modify {
            var list = RelationList()
            swap(&list, &relations)
            defer { relations = list }
            yield &list
        }
    }

    /// The addresses of the entity's streams, if it was read from a service.
    final var streams: [StreamLinks] {
        get { links.streams }
        set { links.streams = newValue }
    }

    private final var links: SnapshotLinks {
        get { storedLinks }
        set { storedLinks = newValue }
    }

    /// Whether the entity has a link, by which it exists in a store or on a service.
    final var hasLink: Bool {
        let links = links
        return links.hasRead || links.edit != nil
    }

    /// The provider with which the entity was read or saved, used to read relations; `nil` before.
    final var factory: EntityFactory? { placement?.factory }

    /// Returns the value of a property, or `nil` if it is unset. The next search begins after its place.
    @usableFromInline
    final func value(of name: String) -> Value? {
        let values = current
        var next = position
        defer { position = next }
        return values.value(of: name, from: &next)
    }

    /// Replaces the values, which are moved out of the snapshot, and all that a store or service returned with them.
    final func replaceContent(from snapshot: inout EntitySnapshot) {
        var values = PropertyValues()
        swap(&values, &snapshot.values)
        (current, position) = (values, PropertyPosition())
        markCurrentValuesSaved()
        // Results of `$apply` have no links.
        storedLinks = snapshot.links
        storedETag = snapshot.etag
        status = EntityStatus(snapshot)
    }

    /// Marks the values as saved.
    final func markCurrentValuesSaved() { (former, isSaved) = (PropertyValues(), true) }

    /// Moves the object to an entity set and a provider.
    final func move(to placement: EntityPlacement) { self.placement = placement }
}
