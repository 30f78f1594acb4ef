package import EDM

/// The relationships of a model by entity set, from either end, whether or not that end has a navigation property. The
/// fold and the rules use it.
///
/// A class, so that its many users share it with one reference.
package final class RelationshipIndex: Sendable {
    /// A relationship with a referential constraint, and its dependent set.
    ///
    /// A class, because the fold and the rules read constraints for each entity, and a copy costs one reference.
    package final class Constraint: Sendable {
        package let relationship: String
        package let dependentSet: String
        package let principalSet: String
        /// Whether the dependent entity is the first end of the relationship's links.
        package let dependentIsFirst: Bool
        package let pairs: [ReferentialConstraint]
        /// Whether a principal has at most one dependent.
        package let isDependentSingle: Bool

        init(
            relationship: String, dependentSet: String, principalSet: String, dependentIsFirst: Bool,
            pairs: [ReferentialConstraint], isDependentSingle: Bool
        ) {
            self.relationship = relationship
            self.dependentSet = dependentSet
            self.principalSet = principalSet
            self.dependentIsFirst = dependentIsFirst
            self.pairs = pairs
            self.isDependentSingle = isDependentSingle
        }

        /// Returns whether a dependent property is among these.
        func isDetermined(by properties: [String]) -> Bool { pairs.contains { properties.contains($0.dependent) } }
    }

    /// An end of a relationship from the perspective of an entity, with its multiplicity.
    package struct End: Sendable, Hashable {
        package let relationship: String
        /// Whether the entity is the first end of the relationship's links.
        package let isFirst: Bool
        /// The number of partners of the entity.
        package let multiplicity: Multiplicity
        /// The display name of the navigation property, such as `Mayors/City`, or that of the other end if this one has
        /// none.
        package let name: String
        /// The set of the partners.
        package let partners: String
        /// The number of entities that a partner is linked to.
        package let partnerMultiplicity: Multiplicity
    }

    /// The model of the index.
    let model: EntityDataModel
    private let sets: NameMap<SetRelationships>

    /// The relationships of one set.
    ///
    /// A class, so that a look-up of one of its lists does not copy the others.
    final class SetRelationships: Sendable {
        let set: String
        let dependents: [Constraint]
        let principals: [Constraint]
        let ends: [End]
        /// The groups of properties that constraints compare with those of other entities, in the constraints' order.
        let compared: [StateItem.MatchItems]
        let namingSinglePlaces: Set<String>
        /// The directions in which a delete cascades to partners.
        let cascades: Set<Relationship>
        /// The directions in which a delete sets the partners' dependent properties to their defaults.
        let defaults: Set<Relationship>

        init(
            of set: String, dependents: [Constraint], principals: [Constraint], ends: [End], compared: [[String]],
            cascades: Set<Relationship>, defaults: Set<Relationship>
        ) {
            self.set = set
            self.dependents = dependents
            self.principals = principals
            self.ends = ends
            self.compared = compared.map { StateItem.MatchItems(set, $0) }
            namingSinglePlaces = Set(dependents.filter(\.isDependentSingle).flatMap(\.pairs).map(\.dependent))
            self.cascades = cascades
            self.defaults = defaults
        }

        /// Returns the constraint of a relationship whose dependent set this is, or nil.
        func constraint(_ relationship: String) -> Constraint? {
            dependents.first { $0.relationship == relationship }
        }
    }

    package init(_ model: EntityDataModel) {
        self.model = model
        let relationships = RelationshipCollector(model)
        let dependents = Dictionary(grouping: relationships.constraints, by: \.dependentSet)
        let principals = Dictionary(grouping: relationships.constraints, by: \.principalSet)
        let declared = Dictionary(model.allSets.map { ($0.name, $0) }) { $1 }
        var compared: [String: [[String]]] = [:]
        func compare(_ properties: [String], in set: String) {
            if compared[set]?.contains(properties) != true { compared[set, default: []].append(properties) }
        }
        for constraint in relationships.constraints {
            compare(constraint.pairs.map(\.dependent), in: constraint.dependentSet)
            compare(constraint.pairs.map(\.principal), in: constraint.principalSet)
        }
        let names = Set(declared.keys).union(relationships.ends.keys).union(compared.keys)
        sets = NameMap(
            names.map { name in
                let set = declared[name]
                let relationships = SetRelationships(
                    of: name, dependents: dependents[name] ?? [], principals: principals[name] ?? [],
                    ends: relationships.ends[name] ?? [], compared: compared[name] ?? [],
                    cascades: set.map(model.cascades) ?? [], defaults: set.map(model.relationshipsWithDefaults) ?? [])
                return (name, relationships)
            })
    }

    /// Returns the relationships of a set, or nil if the model does not have it.
    func relationships(of set: String) -> SetRelationships? { sets[set] }

    /// Returns the constraints whose dependent set this is.
    package func constraints(ofDependentsIn set: String) -> [Constraint] { sets[set]?.dependents ?? [] }
    /// Returns the constraints whose principal set this is.
    package func constraints(ofPrincipalsIn set: String) -> [Constraint] { sets[set]?.principals ?? [] }
    package func ends(of set: String) -> [End] { sets[set]?.ends ?? [] }

    /// Returns whether the service deletes the partner with an entity of the set (`OnDelete` of the metadata, or
    /// containment).
    func deletesPartner(_ relationship: String, from set: String, isFirst: Bool) -> Bool {
        sets[set]?.cascades.contains(Relationship(name: relationship, isForward: isFirst)) ?? false
    }

    /// Returns whether the service sets the dependent properties of the partner to their defaults when it deletes an
    /// entity of the set.
    func setsDefaults(_ relationship: String, from set: String, isFirst: Bool) -> Bool {
        sets[set]?.defaults.contains(Relationship(name: relationship, isForward: isFirst)) ?? false
    }

    /// Returns whether a deletion of an entity of the set sets dependent properties to their defaults.
    func setsDefaults(from set: String) -> Bool { sets[set]?.defaults.isEmpty == false }

    /// Returns the constraint of a relationship between two sets, if it has one.
    package func constraint(_ relationship: String, dependentSet: String) -> Constraint? {
        sets[dependentSet]?.constraint(relationship)
    }
}

/// Collects the ends and constraints of the relationships of a model, each once.
private struct RelationshipCollector {
    private let model: EntityDataModel
    private(set) var constraints: [RelationshipIndex.Constraint] = []
    private(set) var ends: [String: [RelationshipIndex.End]] = [:]

    init(_ model: EntityDataModel) {
        self.model = model
        let sets = model.allSets
        // An end's own navigation property has the best name, so it is added before those of the partners.
        for set in sets { addOwnEnds(of: set) }
        for set in model.containedSets { addContainer(of: set) }
        for set in sets {
            for (type, property) in navigations(of: set) { addPartner(at: property, of: type, in: set) }
        }
    }

    private mutating func add(_ end: RelationshipIndex.End, to set: String) {
        let known = ends[set, default: []].contains {
            $0.relationship == end.relationship && $0.isFirst == end.isFirst
        }
        if !known { ends[set, default: []].append(end) }
    }

    private mutating func add(_ constraint: RelationshipIndex.Constraint) {
        let known = constraints.contains {
            $0.relationship == constraint.relationship && $0.dependentSet == constraint.dependentSet
                && $0.principalSet == constraint.principalSet
        }
        if !known { constraints.append(constraint) }
    }

    private mutating func addOwnEnds(of set: EntitySet) {
        for property in set.entityType.navigationProperties {
            guard let navigation = property.navigation else { continue }
            add(
                RelationshipIndex.End(
                    relationship: navigation.relationship.name, isFirst: navigation.relationship.isForward,
                    multiplicity: navigation.multiplicity, name: "\(set.name)/\(property.name)",
                    partners: model.target(of: property, in: set)?.name ?? navigation.targetType,
                    partnerMultiplicity: navigation.sourceMultiplicity), to: set.name)
        }
    }

    /// Adds the end at the container of a contained set. A contained entity always has a container.
    private mutating func addContainer(of set: EntitySet) {
        guard let containment = set.containment, let end = containment.navigation.navigation else { return }
        add(
            RelationshipIndex.End(
                relationship: end.relationship.name, isFirst: !end.relationship.isForward, multiplicity: .one,
                name: end.partner.map { "\(set.name)/\($0)" }
                    ?? "\(containment.parent.name)/\(containment.navigation.name)",
                partners: containment.parent.name, partnerMultiplicity: end.multiplicity), to: set.name)
    }

    /// Adds the end of the targets of a navigation property, and its constraints.
    private mutating func addPartner(at property: Property, of type: EntityType, in set: EntitySet) {
        guard let navigation = property.navigation, let target = model.target(of: property, in: set, from: type)
        else { return }
        let isForward = navigation.relationship.isForward
        add(
            RelationshipIndex.End(
                relationship: navigation.relationship.name, isFirst: !isForward,
                multiplicity: navigation.sourceMultiplicity, name: "\(set.name)/\(property.name)",
                partners: set.name, partnerMultiplicity: navigation.multiplicity),
            to: target.name)
        // Values determine neither the container of an entity nor a contained target.
        guard model.principalSet(of: property, in: set) != nil else { return }
        if !navigation.constraints.isEmpty {
            add(
                RelationshipIndex.Constraint(
                    relationship: navigation.relationship.name, dependentSet: set.name,
                    principalSet: target.name, dependentIsFirst: isForward, pairs: navigation.constraints,
                    isDependentSingle: navigation.sourceMultiplicity != .many))
        }
        if !navigation.inverseConstraints.isEmpty {
            add(
                RelationshipIndex.Constraint(
                    relationship: navigation.relationship.name, dependentSet: target.name,
                    principalSet: set.name, dependentIsFirst: !isForward, pairs: navigation.inverseConstraints,
                    isDependentSingle: navigation.multiplicity != .many))
        }
    }

    /// Returns the navigation properties of the set's entities, including derived types, with the type that declares
    /// each or inherits it into the set.
    private func navigations(of set: EntitySet) -> [(type: EntityType, property: Property)] {
        model.entityTypes(derivedFrom: set.entityType).flatMap { type in
            type.navigationProperties.filter { type === set.entityType || $0.declaringType == type.name }
                .map { (type, $0) }
        }
    }
}

extension EntityDataModel {
    /// Returns the directions in which a delete of an entity of the set cascades to its partners.
    func cascades(of set: EntitySet) -> Set<Relationship> {
        let declared = set.entityType.navigationProperties.compactMap(\.navigation).filter {
            $0.onDelete == "Cascade" || $0.containsTarget
        }.map(\.relationship)
        return Set(declared + containedSets(in: set).compactMap { $0.containment?.relationship })
    }

    /// Returns the directions in which a delete of an entity of the set sets dependent properties to their defaults.
    fileprivate func relationshipsWithDefaults(of set: EntitySet) -> Set<Relationship> {
        Set(
            set.entityType.navigationProperties.compactMap(\.navigation).filter { $0.onDelete == "SetDefault" }
                .map(\.relationship))
    }
}
