import EDM
import ODataWire
import Operations

/// A link that has to be said by a request of its own; nil for the removal of a single-valued one.
struct LinkContent {
    var navigation: Property
    var target: EntityID?
}

/// Values and bindings of a creation or an update as a body can say them, and what it cannot say.
struct BodyContent {
    var values: PropertyValues
    var bindings: [EntityBody.Binding] = []
    var links: [LinkContent] = []
}

extension RequestPlanner {
    /// Where values and a binding say the same, the binding is sent. Not every V2 service knows bindings: those get the
    /// values, with the key that the principal has now; only a principal of the same change set has none yet.
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
                // The key of a new principal is provisional: the link tells the service which one it is.
                for pair in navigation.navigation?.constraints ?? [] { content.values[pair.dependent] = nil }
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

    /// Says a link by the dependent properties; false where there are none, or the principal's key is not known.
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

    /// All that a PUT has to say: what the service holds, what earlier requests of the change set make of it, and the
    /// changes on top. Not what later operations will do.
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
        var values: PropertyValues = [:]
        let keys = Set(type.keyProperties.map(\.name))
        for property in type.properties
        where property.isWritable || keys.contains(property.name) || changes[property.name] != nil {
            values[property.name] = all[property.name]
        }
        for (name, value) in all where type.findProperty(name) == nil { values[name] = value }
        return values
    }

    private func standingValues(_ entity: EntityID) throws(StateError) -> PropertyValues? {
        if let values = standing[entity] { return values }
        return try resolver.serviceRow(entity)?.values
    }

    /// What a link does to the dependent properties that a later PUT of the same change set repeats.
    mutating func follow(_ from: EntityID, _ navigation: Property, _ to: EntityID?) throws(StateError) {
        guard let end = navigation.navigation else { return }
        if !end.constraints.isEmpty {
            try follow(from, end.constraints, principal: to)
        } else if let to {
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
    /// Whether an update may change it, as far as the metadata tell.
    package var isWritable: Bool {
        !annotations.contains { annotation in
            switch annotation.term {
            case "Org.OData.Core.V1.Computed", "Org.OData.Core.V1.Immutable": annotation.value != "false"
            case "sap:updatable": annotation.value == "false"
            default: false
            }
        }
    }
}
