import EDM

/// Writes the metadata document of declared classes.
struct SchemaDocument {
    private let classes: [any DeclaredEntity.Type]

    init(_ classes: [any DeclaredEntity.Type]) { self.classes = classes }

    var text: String {
        var namespaces: [String] = []
        for type in classes where !namespaces.contains(type.namespace) { namespaces.append(type.namespace) }
        let schemas = namespaces.enumerated().map { schema($1, hasContainer: $0 == 0) }
        return """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
            \(schemas.joined(separator: "\n"))
            </edmx:DataServices></edmx:Edmx>
            """
    }

    private func schema(_ namespace: String, hasContainer: Bool) -> String {
        var lines = [
            "<Schema xmlns=\"http://docs.oasis-open.org/odata/ns/edm\" Namespace=\(Self.quoted(namespace))>"
        ]
        for type in classes where type.namespace == namespace { lines += entityType(type.declaredType, type.typeName) }
        if hasContainer {
            lines.append("<EntityContainer Name=\"Container\">")
            for type in classes {
                lines.append(
                    "<EntitySet Name=\(Self.quoted(type.setName)) EntityType=\(Self.quoted(type.qualifiedName))/>")
            }
            lines.append("</EntityContainer>")
        }
        return (lines + ["</Schema>"]).joined(separator: "\n")
    }

    private func entityType(_ type: EntityType, _ name: String) -> [String] {
        var lines = ["<EntityType Name=\(Self.quoted(name))>"]
        lines.append(
            "<Key>" + type.keyProperties.map { "<PropertyRef Name=\(Self.quoted($0.name))/>" }.joined() + "</Key>")
        lines += type.properties.map { property in
            "<Property Name=\(Self.quoted(property.name)) Type=\(Self.quoted(Self.typeText(property.type)))"
                + " Nullable=\"\(property.isNullable && !type.keyProperties.contains(property))\""
                + Self.facets(property.facets) + "/>"
        }
        lines += type.navigationProperties.map { property in
            let partner = property.navigation?.partner.map { " Partner=\(Self.quoted($0))" } ?? ""
            let type = Self.quoted(Self.typeText(property.type))
            return "<NavigationProperty Name=\(Self.quoted(property.name)) Type=\(type)\(partner)/>"
        }
        return lines + ["</EntityType>"]
    }

    private static func typeText(_ type: TypeReference) -> String {
        type.isCollection ? "Collection(\(type.name))" : type.name
    }

    private static func facets(_ facets: Facets) -> String {
        var text = ""
        if let precision = facets.precision { text += " Precision=\"\(precision)\"" }
        if facets.scale == .variable { text += " Scale=\"variable\"" }
        return text
    }

    private static func quoted(_ text: String) -> String {
        "\""
            + text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;") + "\""
    }
}
