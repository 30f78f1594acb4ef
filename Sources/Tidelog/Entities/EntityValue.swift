public import EDM
import ODataWire
import SyncEngine

/// An entity in the app's hands: property values that can be read and changed, links to read and edit it by, and what is
/// bound to it.
///
/// A change is local to the object until it is passed to ``DataService/createEntity(_:headers:options:)`` or
/// ``DataService/updateEntity(_:headers:options:)``. Not `Sendable`: use one from one task at a time.
open class EntityValue {
    /// The qualified name of the entity type that the class stands for; generated classes override it. Nil for this class,
    /// whose objects may be of any type.
    open class var entityTypeName: String? { nil }

    public let entityType: EntityType
    /// The set that the entity belongs to. Set it before a create where several sets have the same type.
    public var entitySet: EntitySet?

    /// What identifies the entity for reading. There as soon as it has been created here or read; usable for ever, also
    /// after the service has given the real key.
    public var readLink: String?
    /// What identifies the entity for updating and deleting; mostly the same as ``readLink``.
    public var editLink: String?
    public internal(set) var etag: String?
    /// The store's permanent name of the entity; nil for entities that were read from a service directly.
    public internal(set) var entityID: EntityID?
    public internal(set) var state: State = .unsaved
    /// Whether it was created or changed here and the service does not know that yet; what `sap.islocal()` asks. Of the
    /// moment when it was read.
    public internal(set) var isLocal = false
    /// For an entity that was expanded: whether the link that led to it was made here and the service does not know it yet.
    public internal(set) var isFromLocalRelationship = false
    /// The sequence number of the last operation that was logged for this object; nil online.
    public internal(set) var lastOperation: SequenceNumber?

    public enum State: String, Sendable {
        /// Made by the app, not passed to a service yet.
        case unsaved
        /// As the service last said.
        case clean
        /// Operations on it wait for an upload.
        case pending
        /// The service refused an operation on it.
        case error
    }

    /// Only what is set: an absent property is unset, which is neither null nor its default.
    var values: PropertyValues
    /// The values as they were read or last saved; what differs goes into an update.
    var savedValues = PropertyValues()
    var bindings: [(property: Property, entity: EntityValue)] = []
    /// What a navigation property holds: expanded, loaded, or set by the app for a deep insert.
    var related: [String: RelatedEntities] = [:]
    /// Where it was read or saved; nil before. What relations are read by.
    var factory: EntityFactory?

    /// - Parameter withDefaults: gives every property that must not be null, keys included, the default value of the
    ///   metadata or of its type (0, "", false, 1970-01-01). Enumerations and complex values have one with
    ///   ``init(_:_:withDefaults:)``, which knows their types. Leave it out for entities whose key the service gives: a default
    ///   key would be refused as a duplicate the second time.
    public required init(_ entityType: EntityType, withDefaults: Bool = false) {
        self.entityType = entityType
        values = withDefaults ? DefaultValues(model: nil).of(entityType) : PropertyValues()
    }

    /// An entity of that type with every property unset.
    public static func ofType(_ type: EntityType) -> EntityValue { EntityValue(type) }

    // MARK: Values

    /// The property's value; nil where it is unset.
    public func dataValue(for property: some PropertyReference) -> Value? { values[property.property.name] }

    /// Sets the value; nil means null. The value's type is checked when the entity is saved.
    public func setDataValue(for property: some PropertyReference, to value: Value?) {
        values[property.property.name] = value ?? .null
    }

    /// Takes the property out: neither null nor a default is sent, and the service decides.
    public func unsetDataValue(for property: some PropertyReference) { values[property.property.name] = nil }

    public func hasDataValue(for property: some PropertyReference) -> Bool { values[property.property.name] != nil }

    /// The value under a name, declared or, for open types, dynamic. Setting nil unsets.
    public subscript(name: String) -> Value? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// Names and values of everything that is set, in the order of the metadata where it came from a service.
    public var properties: [(name: String, value: Value)] { values.map { ($0.name, $0.value) } }

    /// The key, once all its properties are set and not null.
    public var key: KeyPredicate? { KeyPredicate(of: entityType, in: values) }

    // MARK: Relationships

    /// Binds an existing entity, or one that is created before in the same change set, to a navigation property. Takes
    /// effect with the next create or update of this entity.
    public func bindEntity(_ entity: EntityValue, to property: some PropertyReference) {
        bindings.append((property.property, entity))
    }

    /// The entity that a single-valued navigation property leads to, where it was expanded or loaded.
    public func relatedEntity(_ property: some PropertyReference) -> EntityValue? {
        related[property.property.name]?.target
    }

    /// The entities that a navigation property leads to, where they were expanded or loaded.
    public func relatedEntities(_ property: some PropertyReference) -> [EntityValue] {
        related[property.property.name]?.list ?? []
    }

    /// Whether the navigation property was expanded or loaded.
    public func isLoaded(_ property: some PropertyReference) -> Bool {
        related[property.property.name].map { $0.base != nil && $0.edit == .none } ?? false
    }

    /// A new entity with the same structural properties, the key included: unset the key, or give it another, before it is
    /// created. Navigation properties, links and ETag are not copied.
    public func copy() -> Self {
        let copy = Self(entityType)
        copy.entitySet = entitySet
        copy.values = values
        return copy
    }
}
