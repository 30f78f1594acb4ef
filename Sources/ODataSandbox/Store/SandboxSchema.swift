internal import EDM

/// The behavior of a service that its metadata does not declare.
public struct SandboxConfiguration: Sendable {
    /// Sets whose single integer key the service generates. A value from the client is replaced.
    public var generatedKeys: Set<String>
    /// Sets whose entities have an ETag and require `If-Match` for changes.
    public var etags: Set<String>
    /// Sets whose entities have an entity-id that is independent of the key and does not change with it.
    public var entityIDs: Set<String>
    /// Sets whose key follows a property, by the property's name: an update of the property changes the entity's key.
    /// The old key continues to lead to the entity as long as no other entity has it.
    public var derivedKeys: [String: String]

    /// Creates a behavior with the given sets; by default clients assign all keys and there are no ETags.
    public init(
        generatedKeys: Set<String> = [], etags: Set<String> = [], entityIDs: Set<String> = [],
        derivedKeys: [String: String] = [:]
    ) {
        self.generatedKeys = generatedKeys
        self.etags = etags
        self.entityIDs = entityIDs
        self.derivedKeys = derivedKeys
    }
}

/// The master model with the rules derived from it, computed once.
final class SandboxSchema: Sendable {
    let model: EntityDataModel
    let configuration: SandboxConfiguration
    let relationships: [String: RelationshipRules]
    /// The navigation properties with multiplicity `1`, whose link must exist, by entity type.
    private let mandatory: [String: [Property]]
    private let ends: [String: [(rules: RelationshipRules, isFirst: Bool)]]

    init(model: EntityDataModel, configuration: SandboxConfiguration) {
        self.model = model
        self.configuration = configuration
        var relationships: [String: RelationshipRules] = [:]
        var mandatory: [String: [Property]] = [:]
        for set in model.allSets {
            for property in set.entityType.navigationProperties {
                guard let navigation = property.navigation else { continue }
                relationships[navigation.relationship.name, default: RelationshipRules(navigation)].add(property)
                if navigation.multiplicity == .one { mandatory[set.entityType.name, default: []].append(property) }
            }
        }
        self.relationships = relationships
        self.mandatory = mandatory.mapValues { properties in
            var seen: Set<Property> = []
            return properties.filter { seen.insert($0).inserted }
        }
        var ends: [String: [(rules: RelationshipRules, isFirst: Bool)]] = [:]
        let types = Set(model.allSets.map(\.entityType))
        for rules in relationships.values.sorted(by: { $0.name < $1.name }) {
            for (isFirst, end) in [(true, rules.firstType), (false, rules.secondType)] {
                guard let end else { continue }
                for type in types where model.isType(type.name, derivedFrom: end) {
                    ends[type.name, default: []].append((rules, isFirst))
                }
            }
        }
        self.ends = ends
    }

    func mandatoryNavigations(of type: EntityType) -> [Property] { mandatory[type.name] ?? [] }

    func rules(of navigation: Navigation) -> RelationshipRules {
        relationships[navigation.relationship.name] ?? RelationshipRules(navigation)
    }

    /// Returns the rules of the type's relationships, each with the type's end, ordered by name.
    func relationships(of type: EntityType) -> [(rules: RelationshipRules, isFirst: Bool)] { ends[type.name] ?? [] }
}

/// A relationship with both of its ends, independent of the navigation property.
struct RelationshipRules: Sendable {
    enum Dependent: Sendable { case first, second }

    let name: String
    /// The number of second entities that a first one may have.
    let secondMultiplicity: Multiplicity
    /// The number of first entities that a second one may have.
    let firstMultiplicity: Multiplicity
    let dependent: Dependent?
    let constraints: [ReferentialConstraint]
    private(set) var firstType: String?
    private(set) var secondType: String?
    /// The navigation property from the first end to the second one.
    private(set) var forward: Property?
    private(set) var backward: Property?

    init(_ navigation: Navigation) {
        let isForward = navigation.relationship.isForward
        name = navigation.relationship.name
        secondMultiplicity = isForward ? navigation.multiplicity : navigation.sourceMultiplicity
        firstMultiplicity = isForward ? navigation.sourceMultiplicity : navigation.multiplicity
        if !navigation.constraints.isEmpty {
            dependent = isForward ? .first : .second
            constraints = navigation.constraints
        } else if !navigation.inverseConstraints.isEmpty {
            dependent = isForward ? .second : .first
            constraints = navigation.inverseConstraints
        } else {
            dependent = nil
            constraints = []
        }
    }

    mutating func add(_ property: Property) {
        guard let navigation = property.navigation else { return }
        if navigation.relationship.isForward {
            forward = property
            firstType = property.declaringType
            secondType = secondType ?? navigation.targetType
        } else {
            backward = property
            secondType = property.declaringType
            firstType = firstType ?? navigation.targetType
        }
    }
}
