internal import EDM

/// The content of a metadata document: the counts, then the sets and types.
struct ModelText {
    private let model: EntityDataModel

    init(_ model: EntityDataModel) { self.model = model }

    // MARK: Lines

    var lines: [String] {
        var table = TextTable([("count", .right), ("of", .left)])
        for (name, count) in model.counts.list where count > 0 { table.add([String(count), name]) }
        var lines = ["OData \(model.version.rawValue)", ""] + table.lines
        if !model.entitySets.isEmpty || !model.singletons.isEmpty { lines.append("") }
        for set in model.entitySets { lines.append("entity set \(set.name) of \(set.entityType.name)") }
        for singleton in model.singletons {
            lines.append("singleton \(singleton.name) of \(singleton.entityType.name)")
        }
        for set in model.containedSets { lines.append("contained set \(set.name) of \(set.entityType.name)") }
        for schema in model.schemas {
            for type in schema.entityTypes { lines += [""] + self.lines(of: type) }
            for type in schema.complexTypes { lines += [""] + self.lines(of: type) }
            for type in schema.enumerationTypes {
                lines += ["", "enumeration \(type.name)"] + type.members.map { "  \($0.name) = \($0.value)" }
            }
        }
        if !model.defects.isEmpty { lines += [""] + DefectText(model.defects).lines }
        return lines.map(oneLine)
    }

    private func lines(of type: StructuredType) -> [String] {
        var title = "\(type.kind == .entity ? "entity type" : "complex type") \(type.name)"
        if let base = type.baseType { title += " derived from \(base)" }
        let marks = [type.isAbstract ? "abstract" : nil, type.isOpen ? "open" : nil, type.hasStream ? "media" : nil]
        let shown = marks.compactMap { $0 }
        if !shown.isEmpty { title += " (\(shown.joined(separator: ", ")))" }
        var lines = [title]
        for property in type.properties {
            let isKey = type.keyProperties.contains(property)
            lines.append(
                "  \(property.name): \(Self.typeName(property.type))"
                    + (isKey ? " (key)" : property.isNullable ? "" : " (not null)"))
        }
        for property in type.navigationProperties {
            guard let end = property.navigation else { continue }
            lines.append(line(of: property, end))
        }
        return lines
    }

    /// Returns a line such as `  Orders -> Shop.Order (0..1 to *), back by Customer`.
    private func line(of property: Property, _ end: Navigation) -> String {
        var line = "  \(property.name) -> \(end.targetType)"
        line += " (\(end.sourceMultiplicity.rawValue) to \(end.multiplicity.rawValue))"
        if let partner = end.partner { line += ", partner \(partner)" }
        if end.containsTarget { line += ", contained" }
        for constraint in end.constraints { line += ", \(constraint.dependent) = \(constraint.principal)" }
        return line
    }

    private static func typeName(_ type: TypeReference) -> String {
        type.isCollection ? "Collection(\(type.name))" : type.name
    }

    // MARK: JSON

    /// One object: `odataVersion`, each count with its name, then `namespaces`, `sets`, `types` and `defects`.
    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("odataVersion", model.version.rawValue)
        for (name, count) in model.counts.list { json.member(name, count) }
        json.name("namespaces")
        json.beginArray()
        for schema in model.schemas { json.string(schema.namespace) }
        json.endArray()
        json.name("sets")
        json.beginArray()
        for set in model.allSets {
            json.beginObject()
            json.member("name", set.name)
            json.member("type", set.entityType.name)
            if set.isSingleton { json.member("singleton", true) }
            if set.isContained { json.member("contained", true) }
            json.endObject()
        }
        json.endArray()
        json.name("types")
        json.beginArray()
        for type in model.schemas.flatMap({ $0.entityTypes + $0.complexTypes }) { write(type, &json) }
        json.endArray()
        DefectText(model.defects).write(to: &json)
        json.endObject()
        return json.text
    }

    private func write(_ type: StructuredType, _ json: inout JSONWriter) {
        json.beginObject()
        json.member("name", type.name)
        json.member("kind", type.kind == .entity ? "entity" : "complex")
        if let base = type.baseType { json.member("base", base) }
        if !type.keyProperties.isEmpty {
            json.name("key")
            json.beginArray()
            for property in type.keyProperties { json.string(property.name) }
            json.endArray()
        }
        json.name("properties")
        json.beginArray()
        for property in type.properties {
            json.beginObject()
            json.member("name", property.name)
            json.member("type", Self.typeName(property.type))
            json.member("nullable", property.isNullable)
            json.endObject()
        }
        json.endArray()
        json.name("navigationProperties")
        json.beginArray()
        for property in type.navigationProperties {
            guard let end = property.navigation else { continue }
            json.beginObject()
            json.member("name", property.name)
            json.member("target", end.targetType)
            json.member("multiplicity", end.multiplicity.rawValue)
            json.member("sourceMultiplicity", end.sourceMultiplicity.rawValue)
            if let partner = end.partner { json.member("partner", partner) }
            json.endObject()
        }
        json.endArray()
        json.endObject()
    }
}
