import EDM
import OfflineStore

extension EntityValue {
    /// Updates the object from an entity that a store or service returned.
    ///
    /// - Parameter settled: the relations that were saved together with the entity, and so are current.
    func apply(_ snapshot: consuming EntitySnapshot, _ factory: EntityFactory, settled: [KnownRelation] = []) {
        var objects = EntityObjects(factory)
        objects.update(self, moving: &snapshot, settled: settled)
    }

    /// Updates everything except for the placement. Afterwards the snapshot has no useful values.
    func moveContent(from snapshot: inout EntitySnapshot, _ factory: EntityFactory, settled: [KnownRelation] = []) {
        // Only relations are compared with the former values, and a new object has none.
        let former = related.isEmpty ? nil : savedValues
        replaceContent(from: &snapshot)
        if !bindings.isEmpty { bindings = [] }
        if let former {
            related.removeChanged()
            forgetStaleRelations(besides: settled, former: former)
        }
        for place in snapshot.expanded.indices {
            let targets = factory.entities(moving: &snapshot.expanded[place].entities)
            related.set(RelatedEntities(base: targets), of: snapshot.expanded[place].navigation, entityType)
        }
    }

    /// Updates the object after only a link of the entity was saved. Unsaved changes in the object are kept.
    func applyKeepingEdits(_ snapshot: EntitySnapshot, _ factory: EntityFactory) {
        var (changed, bound) = (changedValues, bindings)
        // The service decides about the key of a new entity.
        for key in entityType.keyProperties where snapshot.values[key.name] != nil { changed[key.name] = nil }
        let edited = related.changed
        apply(snapshot, factory)
        values.merge(changed)
        bindings = bound
        related.merge(edited)
    }

    /// Marks the changes as saved if the service returned no entity. Foreign keys follow the relations that were set.
    func markValuesSaved(etag: String?, settled: [KnownRelation]) {
        for saved in settled {
            guard let property = saved.property, !property.isCollection, let relation = related[saved.name]
            else { continue }
            let isNothing = relation.read?.isEmpty == true
            for pair in property.navigation?.constraints ?? [] {
                values[pair.dependent] = isNothing ? .null : relation.target?.values[pair.principal]
            }
        }
        markCurrentValuesSaved()
        bindings = []
        self.etag = etag ?? self.etag
    }
}
