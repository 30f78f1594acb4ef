import Operations

/// The identity of an entity object, which all objects for one entity have in common.
///
/// It is the entity's ID in its store, or its readLink at a service. An object that is neither saved nor read has an
/// identity of its own.
public struct EntityIdentity: Hashable, Sendable {
    private enum Identifier: Hashable {
        case stored(EntityID, store: ObjectIdentifier?)
        case link(String)
        case object(ObjectIdentifier)

        /// Hashes the ID, the link or the object. A set rarely has entities of different stores.
        func hash(into hasher: inout Hasher) {
            switch self {
            case .stored(let id, _): hasher.combine(id)
            case .link(let link): hasher.combine(link)
            case .object(let object): hasher.combine(object)
            }
        }
    }

    private let identifier: Identifier

    init(_ entity: EntityValue) {
        if let id = entity.entityID {
            identifier = .stored(id, store: entity.store)
        } else if let link = entity.readLink {
            identifier = .link(link)
        } else {
            identifier = .object(ObjectIdentifier(entity))
        }
    }

    /// Creates the identity of an entity in the store of another entity.
    init(_ id: EntityID, inStoreOf other: EntityValue) { identifier = .stored(id, store: other.store) }

    /// Creates the identity of an entity in the store of a provider.
    init(_ id: EntityID, in provider: any ServiceBackend) {
        identifier = .stored(id, store: ObjectIdentifier(provider))
    }
}

/// A type whose objects have the identity of an entity; ``EntityValue`` is the only one.
///
/// The members are here and not in the class, so that generated classes can have properties with the same names: an
/// entity type often has a property `ID`.
public protocol IdentifiableEntity: AnyObject, Identifiable, Hashable where ID == EntityIdentity {}

extension IdentifiableEntity where Self: EntityValue {
    /// The identity of the entity. It changes once, when a new entity is saved or read for the first time.
    ///
    /// If the class has a property `id` of its own, this one is used by `ForEach` and by other generic code.
    public var id: EntityIdentity { EntityIdentity(self) }

    /// Returns a Boolean value that indicates whether both objects represent the same entity, whatever their values.
    ///
    /// Objects from different stores are different. To compare values, compare ``EntityValue/properties``.
    public static func == (a: Self, b: Self) -> Bool { a === b || EntityIdentity(a) == EntityIdentity(b) }

    /// Hashes the identity.
    ///
    /// A set or dictionary must not contain a new entity while it is saved, because its identity changes then.
    public func hash(into hasher: inout Hasher) { EntityIdentity(self).hash(into: &hasher) }

    /// The hash value of the identity.
    public var hashValue: Int {
        var hasher = Hasher()
        hash(into: &hasher)
        return hasher.finalize()
    }
}

extension EntityValue: IdentifiableEntity {}
