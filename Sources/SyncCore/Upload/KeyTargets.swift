import EDM
import ODataWire
import Operations

/// The references to entities whose keys are part of the key of a new entity.
struct KeyTargets {
    let planner: RequestPlanner

    private var resolver: EntityResolver<WorkingSet> { planner.resolver }

    /// Returns the targets that the body of a create must include because their keys are part of the new entity's key,
    /// unless the creation already includes them (OData 4.01 Part 1, section 11.4.2).
    ///
    /// The targets follow from the values of the key. A target that only the store has is included if the same change
    /// set creates it.
    ///
    /// - Parameter owner: The navigation property that the entity is created through.
    func content(
        of creation: Creation, _ type: EntityType, through owner: Property?
    ) throws(StateError) -> BodyContent {
        var content = BodyContent(values: [:])
        guard planner.options.supportsBind, let set = resolver.model.findEntitySet(creation.set) else { return content }
        for item in KeyReference.all(of: type, in: set, resolver.model) {
            guard !creation.decides(item.navigation.name),
                item.navigation.navigation?.relationship.name != owner?.navigation?.relationship.name,
                let named = item.principalValues(creation.values)
            else { continue }
            guard let target = try resolver.principal(named, in: item.set) else {
                guard let reference = item.reference(creation.values) else { continue }
                content.bindings.append(.init(navigation: item.navigation, targets: [reference]))
                continue
            }
            let isNew = planner.contentIDs[target] != nil
            if isNew, planner.options.contentIDReferences != .urlsAndBodies {
                content.links.append(LinkContent(navigation: item.navigation, target: target))
            } else if try isNew ? true : hasBase(target) {
                content.bindings.append(.init(navigation: item.navigation, targets: [try planner.reference(target)]))
            }
        }
        return content
    }

    /// Returns the links to new entities that are part of the key and that no body can express.
    func links(of creation: Creation) throws(StateError) -> [LinkContent] {
        guard let type = resolver.model.findEntityType(creation.type) else { return [] }
        return try content(of: creation, type, through: nil).links
    }

    private func hasBase(_ entity: EntityID) throws(StateError) -> Bool { try resolver.serviceRow(entity) != nil }

    /// Whether a value that defines the same link as a binding is sent as well: a part of the key, unless the service
    /// assigns the key of the target.
    func keepsDependent(_ pair: ReferentialConstraint, _ type: EntityType, of target: EntityID) throws(StateError)
        -> Bool
    {
        guard type.keyProperties.contains(where: { $0.name == pair.dependent }) else { return false }
        guard planner.contentIDs[target] != nil else { return true }
        guard let set = try resolver.set(of: target), let principal = resolver.model.findEntitySet(set)?.entityType
        else {
            return false
        }
        return principal.findProperty(pair.principal)?.isComputed == false
    }
}

extension Creation {
    /// Returns whether the creation has a binding or new entities of the navigation property.
    fileprivate func decides(_ navigation: String) -> Bool {
        bindings.contains { $0.navigation == navigation } || inline.contains { $0.navigation == navigation }
    }
}

extension Property {
    /// Whether only the service assigns values (`Org.OData.Core.V1.Computed`).
    fileprivate var isComputed: Bool {
        annotations.contains { $0.term == "Org.OData.Core.V1.Computed" && $0.value != "false" }
    }
}
