import EDM
import ODataWire
import Operations

/// The children of a creation, and whether each is sent before it, after it or inline.
///
/// A child of a collection is sent after the creation if a deep insert could not match the keys of several entities, or
/// if the child requires a request of its own, for example because it needs a Content-ID, which entities inside a body
/// do not have. A to-one child is sent before the creation in such cases.
private struct ChildPlacement {
    typealias Child = (navigation: Property, creation: Creation)
    var before: [Child] = []
    var after: [Child] = []
    var inline: [Child] = []
}

extension RequestPlanner {
    mutating func addCreate(
        _ creation: Creation, _ parent: Parent?, _ pending: PendingOperation
    ) throws(StateError) {
        guard let parent else { return try add(creation.withoutDecidedProperties(resolver.model), pending) }
        let navigation = try navigation(parent.navigation, of: parent.entity, in: pending.operation)
        let creation = creation.withoutDecidedProperties(resolver.model, through: navigation)
        if navigation.isCollection || isContaining(navigation) {
            return try add(creation, pending, below: (parent.entity, navigation))
        }
        // There is no POST to a to-one navigation property. If possible, the new entity binds its owner, because it
        // may not exist without it. Otherwise a link request follows.
        if let type = resolver.model.findEntityType(creation.type),
            let partner = navigation.navigation?.partner.flatMap({ type.findProperty($0) }), partner.isNavigation
        {
            var creation = creation
            if let known = creation.bindings.firstIndex(where: { $0.navigation == partner.name }) {
                creation.bindings[known].targets.append(parent.entity)
            } else {
                creation.bindings.append(Binding(navigation: partner.name, targets: [parent.entity]))
            }
            return try add(creation, pending)
        }
        try add(creation, pending)
        try add(LinkContent(navigation: navigation, target: creation.entity), of: parent.entity, pending)
    }

    /// Adds the requests of a creation.
    ///
    /// - Parameter owner: The entity and navigation property that the new entity is created in.
    private mutating func add(
        _ creation: Creation, _ pending: PendingOperation, below owner: (entity: EntityID, navigation: Property)? = nil
    ) throws(StateError) {
        guard let set = resolver.model.findEntitySet(creation.set) else { throw missing("entity set \(creation.set)") }
        let below = try split(creation)
        for (_, child) in below.before { try add(child, pending) }
        var (body, new, links) = try body(
            creation, below, declared: set.entityType, through: owner?.navigation)
        var owner = owner
        // A link that is part of the key cannot follow in a request of its own.
        if owner == nil, hasKeyReferences(creation) {
            for link in try KeyTargets(planner: self).links(of: creation) where owner == nil {
                owner = try self.owner(by: link, of: set)
            }
        }
        for (index, link) in links.enumerated() where owner == nil {
            guard let found = try self.owner(by: link, of: set) else { continue }
            owner = found
            links.remove(at: index)
        }
        if let owner {
            let reference = try reference(owner.entity, having: owner.navigation)
            if owner.navigation.isCollection {
                add(.createRelated(in: reference, navigation: owner.navigation, body), pending, creates: new)
            } else {
                // There is no POST to a to-one navigation property. A contained entity is created there by an update
                // of the missing entity (OData 4.01 Part 1, 11.4.4).
                let place = ResourceReference.contained(in: reference, by: owner.navigation, key: nil)
                add(.update(place, body, replaces: !options.supportsPatch), pending, creates: new)
            }
            didChange([owner.entity])
        } else {
            add(.create(in: set, body), pending, creates: new)
        }
        didChange([], etagOf: creation.entity)
        if !options.supportsPatch || creation.values.containsComplexValue {
            standing[creation.entity] = creation.values
        }
        for link in links { try add(link, of: creation.entity, pending) }
        for (navigation, child) in below.after { try add(child, pending, below: (creation.entity, navigation)) }
    }

    /// Returns whether the navigation property contains its targets.
    private func isContaining(_ navigation: Property) -> Bool {
        navigation.navigation?.containsTarget == true && !resolver.model.version.isLegacy
    }

    /// Returns the collection in which the entity can be created so that the URL defines the link: `POST
    /// Customers(1)/Orders`.
    private func owner(
        by link: LinkContent, of set: EntitySet
    ) throws(StateError) -> (entity: EntityID, navigation: Property)? {
        guard let target = link.target, let partner = resolver.model.partner(of: link.navigation),
            partner.isCollection, options.contentIDReferences != .none || contentIDs[target] == nil,
            let owners = resolver.model.findEntitySet(try self.set(of: target)),
            resolver.model.target(of: partner, in: owners)?.name == set.name
        else { return nil }
        return (target, partner)
    }

    private func split(_ creation: Creation) throws(StateError) -> ChildPlacement {
        var below = ChildPlacement()
        if creation.inline.isEmpty { return below }
        guard let type = resolver.model.findEntityType(creation.type) else { throw missing("type \(creation.type)") }
        for level in creation.inline {
            let navigation = try property(level.navigation, of: type)
            for child in level.entities {
                let isSeparate = try needsRequest(child)
                if navigation.isCollection || isContaining(navigation) {
                    if isSeparate || navigation.isCollection && !nestsCollections {
                        below.after.append((navigation, child))
                    } else {
                        below.inline.append((navigation, child))
                    }
                } else if isSeparate || referenced.contains(creation.entity) {
                    // Another request may change the owner's link; then the nested entity would no longer be
                    // reachable.
                    below.before.append((navigation, child))
                } else {
                    below.inline.append((navigation, child))
                }
            }
        }
        return below
    }

    /// Returns whether the keys of other entities are part of the key of the new one; see ``KeyTargets``.
    private func hasKeyReferences(_ creation: Creation) -> Bool {
        guard let type = resolver.model.findEntityType(creation.type), !type.dependentNavigationProperties.isEmpty,
            let set = resolver.model.findEntitySet(creation.set)
        else { return false }
        return !KeyReference.all(of: type, in: set, resolver.model).isEmpty
    }

    private var nestsCollections: Bool {
        switch options.deepInsertToMany {
        case .split: false
        case .inOrder: true
        case .contentID: !resolver.model.version.isLegacy
        }
    }

    private func needsRequest(_ creation: Creation) throws(StateError) -> Bool {
        if referenced.contains(creation.entity) { return true }
        let below = try split(creation)
        if !below.after.isEmpty || !below.before.isEmpty { return true }
        guard let type = resolver.model.findEntityType(creation.type) else { throw missing("type \(creation.type)") }
        return try !content(creation.values, creation.bindings, type).links.isEmpty
    }

    private func body(
        _ creation: Creation, _ below: ChildPlacement, declared: EntityType, through owner: Property? = nil
    ) throws(StateError) -> (EntityBody, NewEntity, [LinkContent]) {
        guard let type = resolver.model.findEntityType(creation.type) else { throw missing("type \(creation.type)") }
        let before = below.before.map { Binding(navigation: $0.navigation.name, targets: [$0.creation.entity]) }
        let content = try content(creation.values, creation.bindings + before, type)
        let keyTargets =
            hasKeyReferences(creation)
            ? try KeyTargets(planner: self).content(of: creation, type, through: owner).bindings : []
        var body = EntityBody(
            type: type, declaredType: declared, values: content.values, bindings: content.bindings + keyTargets)
        var new = NewEntity(creation.entity)
        for (navigation, child) in below.inline {
            let target = navigation.navigation.flatMap { resolver.model.findEntityType($0.targetType) } ?? type
            var (childBody, newChild, _) = try self.body(
                child, try split(child), declared: target, through: navigation)
            if navigation.isCollection, options.deepInsertToMany == .contentID {
                childBody.contentID = String(child.entity.rawValue)
            }
            if let index = body.inline.firstIndex(where: { $0.navigation == navigation }) {
                body.inline[index].entities.append(childBody)
                new.below[index].entities.append(newChild)
            } else {
                body.inline.append(EntityBody.InlineEntities(navigation: navigation, entities: [childBody]))
                new.below.append(NewEntity.Level(navigation: navigation.name, entities: [newChild]))
            }
        }
        return (body, new, content.links)
    }
}
