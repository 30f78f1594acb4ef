internal import EDM
internal import ODataQuery

/// Writes the body of a create or an update.
struct EntityBodyWriter {
    let version: ODataVersion
    let options: ServiceOptions
    let urls: EntityURLWriter
    let values: ValueJSONWriter
    var json = JSONWriter()

    /// - Parameter declared: The declared type at the position of the body, if the body does not contain one.
    mutating func write(_ body: EntityBody, declared: String? = nil) {
        json.beginObject()
        if let declared = body.declaredType?.name ?? declared, declared != body.type.name {
            values.typeName(body.type.name, &json)
        }
        if let contentID = body.contentID, !version.isLegacy {
            json.name("@Core.ContentID")
            json.string(contentID)
        }
        for (name, value) in body.values { values.property(name, value, body.type.findProperty(name)?.type, &json) }
        if version.isLegacy { writeLegacyLinks(body) } else { writeLinks(body) }
        json.endObject()
    }

    private mutating func writeLinks(_ body: EntityBody) {
        for binding in body.bindings { write(binding) }
        for inline in body.inline {
            json.name(inline.navigation.name)
            if inline.navigation.isCollection { json.beginArray() }
            for entity in inline.entities { write(entity, declared: inline.navigation.navigation?.targetType) }
            if inline.navigation.isCollection { json.endArray() }
        }
    }

    private mutating func write(_ binding: EntityBody.Binding) {
        let targets = binding.targets.map(urls.absolute)
        if !binding.navigation.isCollection, targets.isEmpty, version == .v401 {
            json.name(binding.navigation.name)
            json.null()
            return
        }
        json.name(binding.navigation.name + "@odata.bind")
        if binding.navigation.isCollection {
            json.beginArray()
            for target in targets { json.string(target) }
            json.endArray()
        } else if let target = targets.first {
            json.string(target)
        } else {
            // 4.0 defines no form for this; services that support it accept null.
            json.null()
        }
    }

    /// Writes the links of V2, which uses one member for bindings and new entities, so both are grouped by property.
    private mutating func writeLegacyLinks(_ body: EntityBody) {
        var written: Set<String> = []
        for navigation in body.bindings.map(\.navigation) + body.inline.map(\.navigation) {
            guard written.insert(navigation.name).inserted else { continue }
            let targets = body.bindings.filter { $0.navigation.name == navigation.name }.flatMap(\.targets)
            let entities = body.inline.filter { $0.navigation.name == navigation.name }.flatMap(\.entities)
            json.name(navigation.name)
            guard navigation.isCollection else {
                if let target = targets.first {
                    writeMetadata(target)
                } else if let entity = entities.first {
                    write(entity, declared: navigation.navigation?.targetType)
                } else {
                    json.null()
                }
                continue
            }
            if options.wrapsInlineCollections {
                json.beginObject()
                json.name("results")
            }
            json.beginArray()
            for target in targets { writeMetadata(target) }
            for entity in entities { write(entity, declared: navigation.navigation?.targetType) }
            json.endArray()
            if options.wrapsInlineCollections { json.endObject() }
        }
    }

    private mutating func writeMetadata(_ target: ResourceReference) {
        json.beginObject()
        json.name("__metadata")
        json.beginObject()
        json.name("uri")
        json.string(urls.absolute(target))
        json.endObject()
        json.endObject()
    }
}
