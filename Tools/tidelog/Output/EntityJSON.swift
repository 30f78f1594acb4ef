internal import EDM
internal import ODataQuery
internal import OfflineStore
internal import Operations

/// Entities as JSON, one object in each line.
///
/// `@readLink`, `@entityID` and `@state` are first, followed by the properties that are set, in the order of the
/// metadata, and by the expanded navigation properties: an object or null for a single-valued one, an array for a
/// collection. Values have the format of OData 4 JSON for each version of the service, numbers with all their digits.
struct EntityJSON {
    private let model: EntityDataModel
    private let values: ValueJSONWriter

    init(model: EntityDataModel) {
        self.model = model
        values = ValueJSONWriter(version: .v4, model: model)
    }

    func line(_ entity: EntitySnapshot) -> String {
        var json = JSONWriter()
        write(entity, to: &json)
        return json.text
    }

    private func write(_ entity: EntitySnapshot, to json: inout JSONWriter) {
        let type = model.findEntityType(entity.type)
        json.beginObject()
        // Rows that $apply created are values without an identity.
        if !entity.readLink.isEmpty {
            json.member("@readLink", entity.readLink)
            if let id = entity.entityID { json.member("@entityID", id.rawValue) }
            json.member("@state", entity.state.rawValue)
        }
        if entity.isFromLocalRelationship { json.member("@fromLocalRelationship", true) }
        if let set = model.findEntitySet(entity.set), set.entityType.name != entity.type {
            json.member("@type", entity.type)
        }
        for (name, value) in entity.orderedValues(type) {
            values.property(name, value, type?.findProperty(name)?.type, &json)
        }
        for expanded in entity.expanded {
            if let count = expanded.count { json.member("\(expanded.navigation)@count", count) }
            if expanded.form == .count { continue }
            json.name(expanded.navigation)
            if type?.findProperty(expanded.navigation)?.isCollection == false {
                if let target = expanded.entities.first { write(target, to: &json) } else { json.null() }
                continue
            }
            json.beginArray()
            for target in expanded.entities { write(target, to: &json) }
            json.endArray()
        }
        json.endObject()
    }
}

extension EntitySnapshot {
    /// Returns the values that are set: declared properties in the order of the metadata, then dynamic ones by name.
    func orderedValues(_ type: EntityType?) -> [(name: String, value: Value)] {
        let declared = type?.properties.map(\.name) ?? []
        let dynamic = values.names.filter { !declared.contains($0) }.sorted()
        return (declared + dynamic).compactMap { name in values[name].map { (name, $0) } }
    }
}
