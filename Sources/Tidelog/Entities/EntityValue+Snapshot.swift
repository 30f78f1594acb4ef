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
        for (name, value) in related where value.isNew { related[name]?.isNew = false }
        for expanded in snapshot.expanded {
            related[expanded.navigation] = Related(
                entities: expanded.entities.compactMap(factory.entity), isNew: false)
        }
    }

    /// What an update has to say: the properties whose value differs from what was read.
    var changedValues: PropertyValues {
        PropertyValues(values.filter { savedValues[$0.name] != $0.value }.map { ($0.name, $0.value) })
    }
}
