internal import EDM

/// What a service does that its metadata does not say.
public struct SandboxConfiguration: Sendable {
    /// Sets whose single whole-number key the service counts up; what a client sends for it is replaced.
    public var generatedKeys: Set<String>
    /// Sets whose entities carry an ETag and want `If-Match` for their changes.
    public var etags: Set<String>
    /// Sets whose entities have an entity-id that does not follow from their key and stays when the key changes.
    public var entityIDs: Set<String>
    /// Sets whose key follows another property, by its name: what an update writes to it becomes the entity's key. The old
    /// key goes on leading to the entity as long as no other one has it.
    public var derivedKeys: [String: String]

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

/// The master model with the rules that follow from it, looked up once.
final class SandboxSchema: Sendable {
    let model: EntityDataModel
    let configuration: SandboxConfiguration
    let relationships: [String: RelationshipRules]
    /// By entity type: the navigation properties of `1` ends, whose link must exist.
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

    /// The rules of the relationships that the type takes part in, each with the end that it is on, ordered by name.
    func relationships(of type: EntityType) -> [(rules: RelationshipRules, isFirst: Bool)] { ends[type.name] ?? [] }
}

/// One relationship with both its ends, whichever navigation property it was reached through.
struct RelationshipRules: Sendable {
    enum Dependent: Sendable { case first, second }

    let name: String
    /// How many seconds a first may have.
    let secondMultiplicity: Multiplicity
    /// How many firsts a second may have.
    let firstMultiplicity: Multiplicity
    let dependent: Dependent?
    let constraints: [ReferentialConstraint]
    private(set) var firstType: String?
    private(set) var secondType: String?
    /// The navigation property from the first end to the second.
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
