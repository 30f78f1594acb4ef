import EDM
import OfflineStore
import SyncCore

extension EntityValue {
    /// Returns the values of an update that replaces the entity: all that can be written, as in the object.
    func replacingValues() throws(TidelogError) -> PropertyValues {
        let keys = Set(entityType.keyProperties.map(\.name))
        // They belong to links, which can have changed since the object was read.
        let dependent = Set(
            entityType.navigationProperties.flatMap { $0.navigation?.constraints ?? [] }.map(\.dependent))
        let kept = keys.union(dependent)
        var replacing = changedValues
        for property in entityType.properties
        where property.isWritable && !kept.contains(property.name) && property.type.primitive != .stream {
            let unset: Value = property.isCollection ? .collection([]) : .null
            let value = values[property.name] ?? property.declaredDefault ?? unset
            guard property.isNullable || property.isCollection || !value.isNull else {
                throw TidelogError(
                    .refused(.notAllowed),
                    "The update replaces the entity, but \(property.name) of \(entityType.name) is unset and cannot be null.",
                    place: readLink, recovery: "Set the property, or read the entity with all of its properties.")
            }
            replacing[property.name] = value
        }
        return replacing
    }
}
