import EDM
import ODataQuery
import OfflineStore

/// Generates responses of a mock service: one defining query for each set, with links by expansion.
struct MockServiceResponses {
    let model: EntityDataModel
    let root: String

    /// Returns the defining query of a set, with the necessary expansions.
    func query(_ set: String, _ entities: [ComparedEntity]) -> String {
        let expanded = Set(entities.flatMap { $0.links.map(\.navigation) }).sorted()
        return expanded.isEmpty ? set : "\(set)?$expand=\(expanded.joined(separator: ","))"
    }

    /// Returns the response body.
    ///
    /// - Parameter targets: The targets of all links, by their names.
    func body(_ entities: [ComparedEntity], targets: [String: ComparedEntity]) -> String {
        var json = JSONWriter()
        json.beginObject()
        if model.version.isLegacy {
            json.name("d")
            json.beginObject()
            json.name("results")
        } else {
            json.name("value")
        }
        json.beginArray()
        for entity in entities { write(entity, targets, &json) }
        json.endArray()
        if model.version.isLegacy { json.endObject() }
        json.endObject()
        return json.text
    }

    private func write(_ entity: ComparedEntity, _ targets: [String: ComparedEntity], _ json: inout JSONWriter) {
        json.beginObject()
        identity(of: entity, &json)
        let values = ValueJSONWriter(version: model.version, model: model)
        for (name, value) in entity.values {
            json.name(name)
            values.write(value, as: entity.type.findProperty(name)?.type, to: &json)
        }
        for link in entity.links {
            let found = link.targets.compactMap { targets[$0.name] }
            let isCollection = entity.type.findProperty(link.navigation)?.isCollection ?? false
            guard isCollection || !found.isEmpty else { continue }
            json.name(link.navigation)
            if isCollection {
                if model.version.isLegacy {
                    json.beginObject()
                    json.name("results")
                }
                json.beginArray()
                for target in found { key(of: target, values, &json) }
                json.endArray()
                if model.version.isLegacy { json.endObject() }
            } else if let target = found.first {
                key(of: target, values, &json)
            }
        }
        json.endObject()
    }

    /// Writes an expanded entity, which only needs its key.
    private func key(of target: ComparedEntity, _ values: ValueJSONWriter, _ json: inout JSONWriter) {
        json.beginObject()
        identity(of: target, &json)
        for property in target.type.keyProperties {
            guard let value = target.values[property.name] else { continue }
            json.name(property.name)
            values.write(value, as: property.type, to: &json)
        }
        json.endObject()
    }

    private func identity(of entity: ComparedEntity, _ json: inout JSONWriter) {
        if model.version.isLegacy {
            json.name("__metadata")
            json.beginObject()
            json.name("uri")
            json.string(root + entity.name)
            json.name("type")
            json.string(entity.type.name)
            json.endObject()
        } else if model.findEntitySet(entity.set)?.entityType.name != entity.type.name {
            json.name("@odata.type")
            json.string("#" + entity.type.name)
        }
    }
}
