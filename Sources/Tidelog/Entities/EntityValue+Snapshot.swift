import EDM
import ODataWire
import SyncEngine

extension EntityValue {
    /// Takes over what a store or service said of this entity.
    func apply(_ snapshot: EntitySnapshot, _ factory: EntityFactory) {
        entitySet =
            factory.model.findEntitySet(snapshot.set) ?? entitySet ?? QueueModel.model.findEntitySet(snapshot.set)
        values = snapshot.values
        savedValues = snapshot.values
        // What `$apply` made has none.
        readLink = snapshot.readLink.isEmpty ? nil : snapshot.readLink
        editLink = snapshot.editLink.isEmpty ? nil : snapshot.editLink
        etag = snapshot.etag
        entityID = snapshot.entityID
        state = State(rawValue: snapshot.state.rawValue) ?? .clean
        isLocal = snapshot.isLocal
        isFromLocalRelationship = snapshot.isFromLocalRelationship
        bindings = []
        self.factory = factory
        if !related.isEmpty { related = related.filter { $0.value.edit == .none } }
        for expanded in snapshot.expanded {
            related[expanded.navigation] = RelatedEntities(base: expanded.entities.compactMap { factory.entity($0) })
        }
    }

    /// What an update has to say: the properties whose value differs from what was read.
    var changedValues: PropertyValues {
        PropertyValues(values.filter { savedValues[$0.name] != $0.value }.map { ($0.name, $0.value) })
    }
}
