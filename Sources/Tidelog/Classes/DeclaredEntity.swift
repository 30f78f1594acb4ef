public import EDM

/// An entity class that declares its own metadata, for stores without metadata of a service.
///
/// ```swift
/// final class Order: EntityValue, DeclaredEntity {
///     static let total = property("Total", DecimalValue.self)
///     static let customer = toOne("Customer", Customer.self, inverse: .toMany("Orders"))
///     static var members: [any PropertyReference] { [total, customer] }
///
///     var total: DecimalValue? { get { self[Order.total] } set { self[Order.total] = newValue } }
///     var customer: ToOne<Customer> { get { self[Order.customer] } set { self[Order.customer] = newValue } }
/// }
/// ```
///
/// Pass the classes to a ``ClassSchema``. The classes cannot derive from each other.
public protocol DeclaredEntity: EntityValue {
    /// All members of the class.
    static var members: [any PropertyReference] { get }
    /// The members that form the key, in key order. By default there are none, and the store's ``EntityValue/entityID``
    /// identifies the entity.
    static var keyMembers: [any PropertyReference] { get }
    /// The name of the entity type. By default the name of the class.
    static var typeName: String { get }
    /// The name of the entity set. By default the name of the entity type.
    static var setName: String { get }
    /// The namespace of the entity type.
    static var namespace: String { get }
}

extension DeclaredEntity {
    /// No members: the store identifies the entity.
    public static var keyMembers: [any PropertyReference] { [] }
    /// The name of the class.
    public static var typeName: String { String(describing: Self.self) }
    /// The name of the entity type.
    public static var setName: String { typeName }
    /// The namespace `App`.
    public static var namespace: String { "App" }

    static var qualifiedName: String { "\(namespace).\(typeName)" }

    /// The entity type that the members declare.
    public static var declaredType: EntityType { DeclaredTypes.type(of: Self.self) }

    /// Creates an object with all properties unset.
    public init() { self.init(Self.declaredType, withDefaults: false) }

    // MARK: Members

    /// Declares a structural property.
    ///
    /// - Parameter isNullable: Whether the value can be absent.
    public static func property<Value: DeclarableValue>(
        _ name: String, _ type: Value.Type, isNullable: Bool = true
    ) -> StructuralProperty<Self, Value> {
        StructuralProperty(
            Property(
                name: name, type: Value.declaredType, isNullable: isNullable, facets: Value.declaredFacets,
                declaringType: qualifiedName))
    }

    /// Declares a relation with at most one target.
    ///
    /// - Parameter inverse: The member of the target class for the same relation in the other direction.
    public static func toOne<Target: DeclaredEntity>(
        _ name: String, _ target: Target.Type, inverse: InverseRelation? = nil
    ) -> ToOneProperty<Self, Target> {
        ToOneProperty(relation(name, target, isCollection: false, inverse))
    }

    /// Declares a relation with any number of targets.
    ///
    /// - Parameter inverse: The member of the target class for the same relation in the other direction.
    public static func toMany<Target: DeclaredEntity>(
        _ name: String, _ target: Target.Type, inverse: InverseRelation? = nil
    ) -> ToManyProperty<Self, Target> {
        ToManyProperty(relation(name, target, isCollection: true, inverse))
    }

    private static func relation<Target: DeclaredEntity>(
        _ name: String, _ target: Target.Type, isCollection: Bool, _ inverse: InverseRelation?
    ) -> Property {
        // The same relationship and direction as those that the reader of the document determines.
        let own = "\(qualifiedName)/\(name)"
        let other = inverse.map { "\(target.qualifiedName)/\($0.name)" }
        let isForward = other.map { !$0.utf8.lexicographicallyPrecedes(own.utf8) } ?? true
        return Property(
            name: name, type: TypeReference(.entity(name: target.qualifiedName), isCollection: isCollection),
            isNullable: !isCollection,
            navigation: Navigation(
                targetType: target.qualifiedName, multiplicity: isCollection ? .many : .zeroOrOne,
                sourceMultiplicity: inverse.map { $0.isCollection ? .many : .zeroOrOne } ?? .many,
                partner: inverse?.name,
                relationship: Relationship(name: isForward ? own : other ?? own, isForward: isForward)),
            declaringType: qualifiedName)
    }
}

/// The member of the target class that leads back along a relation.
public struct InverseRelation: Sendable, Hashable {
    let name: String
    let isCollection: Bool

    /// A ``DeclaredEntity/toOne(_:_:inverse:)`` with this name.
    public static func toOne(_ name: String) -> InverseRelation { InverseRelation(name: name, isCollection: false) }
    /// A ``DeclaredEntity/toMany(_:_:inverse:)`` with this name.
    public static func toMany(_ name: String) -> InverseRelation { InverseRelation(name: name, isCollection: true) }
}
