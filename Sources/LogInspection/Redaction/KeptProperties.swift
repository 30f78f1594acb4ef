import EDM

/// Two properties that a referential constraint requires to be equal.
typealias ReferentialPair = (dependent: Property, principal: Property)

extension EntityDataModel {
    /// Returns the pairs of properties that a referential constraint requires to be equal.
    func referentialPairs() -> [ReferentialPair] {
        schemas.flatMap(\.entityTypes).flatMap { type in
            type.navigationProperties.flatMap { property -> [ReferentialPair] in
                guard let navigation = property.navigation, let target = findEntityType(navigation.targetType)
                else { return [] }
                return navigation.constraints.compactMap { constraint in
                    guard let dependent = type.findProperty(constraint.dependent),
                        let principal = target.findProperty(constraint.principal)
                    else { return nil }
                    return (dependent, principal)
                }
            }
        }
    }

}

/// The properties whose values a redaction keeps, as `Set/Property`.
struct KeptProperties {
    private var paths: Set<String>
    /// The given paths that lead to no property of any model.
    private(set) var pathsNotFound: Set<String>

    init(_ paths: Set<String>) {
        self.paths = paths
        pathsNotFound = paths
    }

    func contains(_ path: String) -> Bool { paths.contains(path) }

    /// Adds the properties of a model that constraints require to be equal to a kept one.
    mutating func extend(with model: EntityDataModel, _ constraints: [ReferentialPair]) {
        let (equal, found) = Self.closure(of: paths, in: model, constraints)
        paths.formUnion(equal)
        pathsNotFound.subtract(found)
    }

    /// Returns the paths of all properties that constraints require to be equal to a kept one, in every set that has
    /// them. If only one end were kept and the other ranked, unrelated entities would be linked.
    ///
    /// - Returns: The kept paths, and those of the given paths that lead to a property.
    private static func closure(
        of paths: Set<String>, in model: EntityDataModel,
        _ constraints: [ReferentialPair]
    ) -> (kept: Set<String>, found: Set<String>) {
        var found: Set<String> = []
        var properties: Set<String> = []
        for path in paths {
            guard let property = Self.property(path, in: model) else { continue }
            found.insert(path)
            if path.utf8.count(where: { $0 == UInt8(ascii: "/") }) == 1 { properties.insert(property.description) }
        }
        var equal: Set<String> = []
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for (dependent, principal) in constraints {
                let ends: Set = [dependent.description, principal.description]
                guard !ends.isDisjoint(with: properties.union(equal)), !ends.isSubset(of: equal) else { continue }
                equal.formUnion(ends)
                hasChanged = true
            }
        }
        var kept = found
        for set in model.allSets {
            for type in model.entityTypes(derivedFrom: set.entityType) {
                for property in type.properties where equal.contains(property.description) {
                    kept.insert(set.name + "/" + property.name)
                }
            }
        }
        return (kept, found)
    }

    /// Returns the property for `Set/Property` or `Set/Property/Member`, or nil if the path leads to no structural
    /// property.
    private static func property(_ path: String, in model: EntityDataModel) -> Property? {
        let names = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard names.count > 1,
            let set = model.allSets.first(where: { $0.name == names[0] })
        else { return nil }
        var types: [StructuredType] = model.entityTypes(derivedFrom: set.entityType)
        var property: Property?
        for name in names.dropFirst() {
            property = types.lazy.compactMap { $0.findProperty(name) }.first { !$0.isNavigation }
            guard let property else { return nil }
            types = []
            if case .complex(let complex) = property.type.kind, let type = model.findComplexType(complex) {
                types = [type]
            }
        }
        return property
    }
}
