import EDM
import ODataWire
import Operations

/// A link that requires a request of its own. A nil target removes the link of a to-one property.
struct LinkContent {
    var navigation: Property
    var target: EntityID?
}

/// The values and bindings of a creation or an update that a body can express, and the remaining links.
struct BodyContent {
    var values: PropertyValues
    var bindings: [EntityBody.Binding] = []
    var links: [LinkContent] = []

    /// Returns whether the links express all of the bindings, so that an update without values needs no request.
    func expressesByLinks(_ bindings: [Binding]) -> Bool {
        !links.isEmpty && links.count == bindings.reduce(0) { $0 + max($1.targets.count, 1) }
    }
}

extension RequestPlanner {
    /// Returns the content of a body.
    ///
    /// If values and a binding define the same link, the binding is sent. Not all V2 services support bindings, so
    /// these receive the values with the principal's current key, unless the principal is created in the same change
    /// set and has no key yet.
    func content(
        _ values: PropertyValues, _ bindings: [Binding], _ type: EntityType
    ) throws(StateError) -> BodyContent {
        var content = BodyContent(values: values)
        for binding in bindings {
            let navigation = try property(binding.navigation, of: type)
            let isDoubled = resolver.constraint(of: binding, beside: content.values, type) != nil
            let speaksValues = !options.supportsBind || (isDoubled && resolver.model.version.isLegacy)
            if speaksValues, try setDependents(of: navigation, to: binding.targets, &content.values) { continue }
            if isDoubled {
                // The key of a new principal is provisional, so the link identifies it to the service.
                let keys = KeyTargets(planner: self)
                for pair in navigation.navigation?.constraints ?? []
                where try !keys.keepsDependent(pair, type, of: binding.targets[0]) {
                    content.values[pair.dependent] = nil
                }
            }
            var targets: [ResourceReference] = []
            for target in binding.targets {
                let isNew = contentIDs[target] != nil
                if options.supportsBind, !isNew || options.contentIDReferences == .urlsAndBodies {
                    targets.append(try reference(target))
                } else {
                    content.links.append(LinkContent(navigation: navigation, target: target))
                }
            }
            if !targets.isEmpty || (options.supportsBind && binding.targets.isEmpty) {
                content.bindings.append(EntityBody.Binding(navigation: navigation, targets: targets))
            } else if binding.targets.isEmpty, !navigation.isCollection {
                content.links.append(LinkContent(navigation: navigation, target: nil))
            }
        }
        return content
    }

    /// Expresses a link by the dependent properties. Returns false if there are none, or the principal's key is
    /// unknown.
    private func setDependents(
        of navigation: Property, to targets: [EntityID], _ values: inout PropertyValues
    ) throws(StateError) -> Bool {
        guard let pairs = navigation.navigation?.constraints, !pairs.isEmpty, targets.count <= 1 else { return false }
        guard let principal = targets.first else {
            for pair in pairs { values[pair.dependent] = .null }
            return true
        }
        guard contentIDs[principal] == nil else { return false }
        let row = try resolver.serviceRow(principal)
        for pair in pairs { values[pair.dependent] = row?.values[pair.principal] ?? values[pair.dependent] ?? .null }
        return true
    }

    // MARK: Replacement

    /// Returns all values of a PUT: the service's values, the effects of earlier requests of the change set, and the
    /// changes. Later operations and client-only properties are not included.
    mutating func replacement(
        of entity: EntityID, _ changes: PropertyValues, _ bindings: [Binding], _ type: EntityType
    ) throws(StateError) -> PropertyValues {
        var all = try standingValues(entity) ?? [:]
        all.merge(changes)
        for binding in bindings {
            let navigation = try property(binding.navigation, of: type)
            if try setDependents(of: navigation, to: binding.targets, &all) { continue }
            for pair in navigation.navigation?.constraints ?? [] { all[pair.dependent] = nil }
        }
        standing[entity] = all
        return type.repeated(all, changing: changes)
    }

    /// Returns the values of a PATCH, in which complex values name all members that change.
    mutating func completed(
        _ changes: PropertyValues, of entity: EntityID, _ type: EntityType
    ) throws(StateError) -> PropertyValues {
        guard changes.containsComplexValue, let all = try standingValues(entity) else { return changes }
        standing[entity] = all.merging(changes)
        return changes.replacing(all, of: type, resolver.model)
    }

    private func standingValues(_ entity: EntityID) throws(StateError) -> PropertyValues? {
        if let values = standing[entity] { return values }
        return try resolver.serviceRow(entity)?.values
    }

    /// Sets the dependent properties of all links that an operation ends to null, whether it names them or not.
    /// Otherwise a later PUT of the same change set would restore the link. For the updated entity itself, the update
    /// contains the values.
    mutating func nullDependents(_ operation: Operation, _ tracker: inout LinkTracker<WorkingSet>) throws(StateError) {
        var updated: EntityID?
        if case .update(let entity, _, _) = operation.action { updated = entity }
        for (entity, pairs) in try resolver.dependents(endedBy: operation, except: updated, &tracker) {
            try follow(entity, pairs, principal: nil)
        }
    }

    /// Applies the effect of a link to the dependent properties that a later PUT of the same change set repeats.
    mutating func follow(_ from: EntityID, _ navigation: Property, _ to: EntityID) throws(StateError) {
        guard let end = navigation.navigation else { return }
        if !end.constraints.isEmpty {
            try follow(from, end.constraints, principal: to)
        } else {
            try follow(to, end.inverseConstraints, principal: from)
        }
    }

    private mutating func follow(
        _ dependent: EntityID, _ pairs: [ReferentialConstraint], principal: EntityID?
    ) throws(StateError) {
        guard !pairs.isEmpty, var values = try standingValues(dependent) else { return }
        var row: EntityRow?
        if let principal, contentIDs[principal] == nil { row = try resolver.serviceRow(principal) }
        for pair in pairs { values[pair.dependent] = principal == nil ? .null : row?.values[pair.principal] }
        standing[dependent] = values
    }
}

extension Property {
    /// Whether an update may change the property, according to the metadata.
    package var isWritable: Bool {
        !annotations.contains { annotation in
            switch annotation.term {
            case "Org.OData.Core.V1.Computed", "Org.OData.Core.V1.Immutable": annotation.value != "false"
            case "sap:updatable": annotation.value == "false"
            case "Org.OData.Core.V1.Permissions": !annotation.permits("Write")
            default: false
            }
        }
    }

    /// Whether the service returns the value of the property, according to the metadata.
    var isReadable: Bool {
        annotations.allSatisfy { $0.term != "Org.OData.Core.V1.Permissions" || $0.permits("Read") }
    }
}

extension Annotation {
    /// Returns whether the value of `Core.Permissions` includes a permission. A computed value, and a number, may include
    /// each.
    fileprivate func permits(_ permission: String) -> Bool {
        let names = (value ?? "").split { $0 == " " || $0 == "," }.map { $0.split(separator: "/").last ?? $0 }
        return names.isEmpty || names.contains { $0.contains(permission) || Int($0) != nil }
    }
}

extension EntityType {
    /// Returns the values of an entity that a PUT repeats, and the changed ones.
    func repeated(_ all: PropertyValues, changing changes: PropertyValues) -> PropertyValues {
        var values: PropertyValues = [:]
        let keys = Set(keyProperties.map(\.name))
        for property in properties where !property.isClientOnly {
            guard property.isWritable || keys.contains(property.name) || changes[property.name] != nil else { continue }
            values[property.name] = all[property.name]
        }
        for (name, value) in all where findProperty(name) == nil { values[name] = value }
        return values
    }
}

extension EntityResolver<WorkingSet> {
    /// Returns the entities whose dependent properties a link determines that an operation ends, with these properties.
    /// The values of the `updated` entity itself are not included.
    fileprivate func dependents(
        endedBy operation: Operation, except updated: EntityID?, _ tracker: inout LinkTracker<WorkingSet>
    ) throws(StateError) -> [(EntityID, [ReferentialConstraint])] {
        var dependents: [(EntityID, [ReferentialConstraint])] = []
        for link in try follow(operation, &tracker).ended {
            for (entity, relationship, partner) in [
                (link.entity, link.relationship, link.partner),
                (link.partner, link.relationship.reversed, link.entity),
            ] {
                guard let type = try entityType(of: entity, in: operation) else { continue }
                for end in type.navigationProperties.compactMap(\.navigation) where end.relationship == relationship {
                    if entity != updated { dependents.append((entity, end.constraints)) }
                    if partner != updated { dependents.append((partner, end.inverseConstraints)) }
                }
            }
        }
        return dependents
    }
}
