import EDM
import ODataWire
import SyncEngine

extension EntityValue {
    /// An entity as it was read.
    convenience init?(_ snapshot: EntitySnapshot, model: EntityDataModel) {
        guard let type = model.findEntityType(snapshot.type) else { return nil }
        self.init(type)
        apply(snapshot, model: model)
    }

    /// Takes over what a store or service said of this entity.
    func apply(_ snapshot: EntitySnapshot, model: EntityDataModel) {
        entitySet = model.findEntitySet(snapshot.set) ?? entitySet
        values = snapshot.values
        savedValues = snapshot.values
        readLink = snapshot.readLink
        editLink = snapshot.editLink
        etag = snapshot.etag
        entityID = snapshot.entityID
        state = State(rawValue: snapshot.state.rawValue) ?? .clean
        bindings = []
        for (name, value) in related where value.isNew { related[name]?.isNew = false }
        for expanded in snapshot.expanded {
            related[expanded.navigation] = Related(
                entities: expanded.entities.compactMap { EntityValue($0, model: model) }, isNew: false)
        }
    }

    /// What an update has to say: the properties whose value differs from what was read.
    var changedValues: PropertyValues {
        PropertyValues(values.filter { savedValues[$0.name] != $0.value }.map { ($0.name, $0.value) })
    }
}
