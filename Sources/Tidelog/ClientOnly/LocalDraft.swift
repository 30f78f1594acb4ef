import EDM
import OfflineStore
import Operations

/// A draft of an entity in a client-only set, and its children: how it is made and becomes active.
struct LocalDraft {
    let model: EntityDataModel

    // MARK: Copying

    /// Returns a draft of an entity and adds its creation to a change set, with drafts of its children.
    func copy(
        _ entity: EntityValue, in set: EntitySet, _ children: [Property], _ changes: ChangeSet
    ) async throws(TidelogError) -> EntityValue {
        let draft = try await draft(of: entity, in: set)
        changes.createEntity(draft)
        for property in children {
            guard let target = model.target(of: property, in: set, from: entity.entityType), target.activeSet != nil
            else {
                throw TidelogError(
                    .invalidRequest,
                    "\(property.name) of \(set.name) does not lead to a set of drafts, so its entities cannot be copied.",
                    recovery: "Bind the property of \(set.name) to a client-only set with the annotation LocalDraft.")
            }
            for child in try await entity.loadRelation(property) {
                let copy = try await self.draft(of: child, in: target)
                changes.createRelatedEntity(copy, in: draft, property: property)
            }
        }
        return draft
    }

    private func draft(of entity: EntityValue, in set: EntitySet) async throws(TidelogError) -> EntityValue {
        let draft = entity.copy()
        draft.entitySet = set
        draft.values[ClientOnlyMetadata.draftBase] = .binary(ValueCodec.encode(entity.values))
        if let origin = entity.entityType.findProperty(ClientOnlyMetadata.draftOrigin) {
            draft.bindEntity(entity, to: origin)
        }
        for property in references(of: entity.entityType, in: set) {
            for target in try await entity.loadRelation(property) { draft.bindEntity(target, to: property) }
        }
        return draft
    }

    /// Returns the single-valued relations of a draft that no property determines. A one-to-one relation would take the
    /// target from the active entity.
    private func references(of type: EntityType, in set: EntitySet) -> [Property] {
        type.navigationProperties.filter { property in
            guard let end = property.navigation, !property.isCollection, !end.containsTarget,
                property.name != ClientOnlyMetadata.draftOrigin, end.constraints.isEmpty,
                end.inverseConstraints.isEmpty, end.sourceMultiplicity == .many
            else { return false }
            return model.target(of: property, in: set)?.activeSet == nil
        }
    }

    // MARK: Activating

    /// Adds the changes that a draft makes to its active entity, and the deletion of the draft.
    ///
    /// - Parameter parent: The active parent of a child, and the property that leads to the child.
    /// - Returns: The active entity.
    func activate(
        _ draft: EntityValue, in parent: (entity: EntityValue, property: Property)? = nil, _ changes: ChangeSet
    ) async throws(TidelogError) -> EntityValue {
        guard let set = draft.entitySet, let name = set.activeSet, let active = model.findEntitySet(name),
            let origin = draft.entityType.findProperty(ClientOnlyMetadata.draftOrigin)
        else {
            throw TidelogError(
                .invalidRequest, "The entity is not a draft.",
                recovery: "Pass an entity of a set with the annotation LocalDraft.")
        }
        let entity: EntityValue
        if let known = try await draft.loadRelation(origin).first {
            try await change(known, by: draft, in: set, changes)
            entity = known
        } else if draft.values[ClientOnlyMetadata.draftBase] != nil {
            throw TidelogError(
                .notFound, "The entity of which this is a draft no longer exists, so that the draft cannot change it.",
                recovery: "Discard the draft, or create a new entity with its values.")
        } else {
            entity = EntityValue(draft.entityType)
            entity.entitySet = active
            entity.values = own(draft.values)
            for property in references(of: draft.entityType, in: set) {
                for target in try await draft.loadRelation(property) { entity.bindEntity(target, to: property) }
            }
            if let parent {
                changes.createRelatedEntity(entity, in: parent.entity, property: parent.property)
            } else {
                changes.createEntity(entity)
            }
        }
        // Only collections: a single-valued property of a child leads back to its parent.
        for property in draft.entityType.navigationProperties
        where property.isCollection
            && model.target(of: property, in: set, from: draft.entityType)?.activeSet != nil
        {
            for child in try await draft.loadRelation(property) where child.isDraft {
                _ = try await activate(child, in: (entity, property), changes)
            }
        }
        changes.deleteEntity(draft)
        return entity
    }

    /// Makes the changes of a draft since it was made, so that changes of the active entity in the meantime remain.
    private func change(
        _ entity: EntityValue, by draft: EntityValue, in set: EntitySet, _ changes: ChangeSet
    ) async throws(TidelogError) {
        let base = base(of: draft)
        for (name, value) in own(draft.values) where base[name] != value { entity.values[name] = value }
        for name in base.names where draft.values[name] == nil { entity.values[name] = nil }
        if !entity.changedValues.isEmpty { changes.updateEntity(entity) }
        for property in references(of: draft.entityType, in: set) {
            let wanted = try await draft.loadRelation(property).first
            let present = try await entity.loadRelation(property).first
            guard wanted?.entityID != present?.entityID else { continue }
            if let wanted {
                changes.updateLink(from: entity, property: property, to: wanted)
            } else {
                changes.deleteLink(from: entity, property: property)
            }
        }
    }

    private func base(of draft: EntityValue) -> PropertyValues {
        guard case .binary(let bytes)? = draft.values[ClientOnlyMetadata.draftBase] else { return PropertyValues() }
        return (try? ValueCodec.decode(bytes)) ?? PropertyValues()
    }

    /// Returns the values of a draft that belong to the active entity.
    private func own(_ values: PropertyValues) -> PropertyValues {
        var values = values
        values[ClientOnlyMetadata.draftBase] = nil
        return values
    }
}
