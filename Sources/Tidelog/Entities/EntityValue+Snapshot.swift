import EDM
import OfflineStore

extension EntityValue {
    /// Updates the object from an entity that a store or service returned.
    ///
    /// - Parameter settled: the relations that were saved together with the entity, and so are current.
    func apply(_ snapshot: EntitySnapshot, _ factory: EntityFactory, settled: [String] = []) {
        ObjectEntitySet(snapshot.set, factory.model).assign(to: self)
        applyContent(snapshot, factory, settled: settled)
    }

    /// Updates everything except for the entity set.
    func applyContent(_ snapshot: EntitySnapshot, _ factory: EntityFactory, settled: [String] = []) {
        // Only relations are compared with the former values, and a new object has none.
        let former = related.isEmpty ? PropertyValues() : savedValues
        values = snapshot.values
        savedValues = snapshot.values
        // Results of `$apply` have no links.
        links = snapshot.links
        etag = snapshot.etag
        entityID = snapshot.entityID
        state =
            switch snapshot.state {
            case .clean: .clean
            case .pending: .pending
            case .error: .error
            }
        isLocal = snapshot.isLocal
        isCreated = snapshot.isCreated
        isFromLocalRelationship = snapshot.isFromLocalRelationship
        bindings = []
        streams = snapshot.streams
        self.factory = factory
        if !related.isEmpty {
            if related.values.contains(where: { $0.edit != .none }) {
                related = related.filter { $0.value.edit == .none }
            }
            forgetStaleRelations(besides: settled, former: former)
        }
        for expanded in snapshot.expanded {
            related[expanded.navigation] = RelatedEntities(base: factory.entities(expanded.entities))
        }
    }

    /// Updates the object after only a link of the entity was saved. Unsaved changes in the object are kept.
    func applyKeepingEdits(_ snapshot: EntitySnapshot, _ factory: EntityFactory) {
        var (changed, bound) = (changedValues, bindings)
        // The service decides about the key of a new entity.
        for key in entityType.keyProperties where snapshot.values[key.name] != nil { changed[key.name] = nil }
        let edited = related.filter { $0.value.edit != .none }
        apply(snapshot, factory)
        values.merge(changed)
        bindings = bound
        related.merge(edited) { $1 }
    }

    /// Marks the changes as saved if the service returned no entity. Foreign keys follow the relations that were set.
    func markValuesSaved(etag: String?, settled: [String]) {
        for name in settled {
            guard let property = entityType.findProperty(name), !property.isCollection,
                let relation = related[name]
            else { continue }
            let isNothing = relation.read?.isEmpty == true
            for pair in property.navigation?.constraints ?? [] {
                values[pair.dependent] = isNothing ? .null : relation.target?.values[pair.principal]
            }
        }
        savedValues = values
        bindings = []
        self.etag = etag ?? self.etag
    }

    /// The content of an update: the properties whose values differ from those last read or saved.
    var changedValues: PropertyValues {
        PropertyValues(values.filter { savedValues[$0.name] != $0.value }.map { ($0.name, $0.value) })
    }
}
