/// Adds the elements of client-only metadata to the tree of a service's metadata.
///
/// The service's elements never change: an addition with the name of one is an error.
struct ClientOnlyMerge {
    private let service: MetadataDocument

    init(into service: MetadataDocument) { self.service = service }

    /// Returns the service's document with the additions.
    func merge(_ additions: MetadataDocument) throws(CSDLError) -> MetadataDocument {
        for schema in additions.schemas { try add(schema) }
        for set in draftSets { try addDraftMembers(for: set) }
        return try MetadataDocument(service.root)
    }

    private func add(_ schema: MarkupElement) throws(CSDLError) {
        let namespace = try schema.required("Namespace")
        let containers = schema.children("EntityContainer")
        if let known = service.schemas.first(where: { $0["Namespace"] == namespace }) {
            if let alias = schema["Alias"], alias != known["Alias"] {
                throw CSDLError(
                    .duplicateName, "The schema \(namespace) has no alias \(alias) in the service's metadata.",
                    at: schema)
            }
            for child in schema.children where child.vocabulary == .edm && child.name != "EntityContainer" {
                try add(child, to: known)
            }
        } else {
            schema.remove { $0.isModel("EntityContainer") }
            for child in schema.children where child.vocabulary == .edm { try check(child) }
            for child in schema.children where child.vocabulary == .edm { mark(child) }
            guard let place = service.root.children.first(where: { $0.name == "DataServices" }) else {
                throw CSDLError(
                    .notMetadata, "The service's metadata has no element DataServices, so no schema can be added.",
                    at: schema)
            }
            place.append(schema)
        }
        for container in containers { try addSets(of: container) }
    }

    /// Adds a declaration to a schema of the service.
    private func add(_ element: MarkupElement, to schema: MarkupElement) throws(CSDLError) {
        try check(element)
        let name = element["Name"]
        let known = schema.children.first { other in
            other.vocabulary == .edm && name != nil && other["Name"] == name && Self.declarations.contains(other.name)
        }
        guard let known else {
            mark(element)
            return schema.append(element)
        }
        guard element.name == "EntityType", known.name == "EntityType" else {
            throw duplicate(element, "The service's metadata declares \"\(name ?? "")\" too.")
        }
        for member in element.children where member.vocabulary == .edm { try add(member, toType: known) }
    }

    private func add(_ member: MarkupElement, toType type: MarkupElement) throws(CSDLError) {
        let typeName = type["Name"] ?? ""
        switch member.name {
        case "Property", "NavigationProperty": break
        case "Key", "PropertyRef":
            throw CSDLError(
                .invalidKey, "The key of \"\(typeName)\" is the service's and cannot be client-only.", at: member)
        default: return
        }
        let name = try member.declaredName()
        let isDeclared = type.children.contains {
            ($0.isModel("Property") || $0.isModel("NavigationProperty")) && $0["Name"] == name
        }
        if isDeclared {
            throw duplicate(member, "The service's metadata declares the property \"\(name)\" of \"\(typeName)\" too.")
        }
        if member.isModel("Property"), member["Nullable"] == "false" {
            throw CSDLError(
                .invalidValue,
                "The property \"\(name)\" of \"\(typeName)\" has to be nullable, because entities of the service have no value for it.",
                at: member)
        }
        mark(member)
        type.append(member)
    }

    private func addSets(of container: MarkupElement) throws(CSDLError) {
        let standard = containers.first { $0.anyAttribute("IsDefaultEntityContainer") == "true" }
        guard let place = standard ?? containers.first
        else {
            throw CSDLError(
                .notMetadata, "The service's metadata has no entity container, so no entity set can be added.",
                at: container)
        }
        for child in container.children where child.vocabulary == .edm {
            switch child.name {
            case "EntitySet", "AssociationSet": break
            case "Annotation", "Documentation": continue
            default: throw refused(child)
            }
            let name = try child.declaredName()
            if place.children.contains(where: { $0.vocabulary == .edm && $0["Name"] == name }) {
                throw duplicate(child, "The service's metadata declares \"\(name)\" too.")
            }
            mark(child)
            place.append(child)
        }
    }

    // MARK: Drafts

    private var containers: [MarkupElement] { service.schemas.flatMap { $0.children("EntityContainer") } }

    private var draftSets: [MarkupElement] {
        containers.flatMap { $0.children("EntitySet") }.filter { set in
            set.children("Annotation").contains { $0["Term"] == ClientOnlyMetadata.localDraftTerm }
        }
    }

    /// Adds the members of drafts to the type of a set of drafts: the active entity, and its values when the draft was
    /// made.
    private func addDraftMembers(for set: MarkupElement) throws(CSDLError) {
        let name = try set.required("EntityType")
        let draft = set.children("Annotation").first { $0["Term"] == ClientOnlyMetadata.localDraftTerm }
        let active = draft?["String"] ?? ""
        let activeSet = containers.flatMap { $0.children("EntitySet") }.first { $0["Name"] == active }
        guard let activeSet, activeSet["EntityType"] == name else {
            throw CSDLError(
                .unknownEntitySet,
                "The annotation LocalDraft of the \(set.label) names \"\(active)\", which is no entity set with the same type.",
                at: set)
        }
        guard let type = entityType(name) else {
            throw CSDLError(.unresolvedName, "The type \"\(name)\" of the \(set.label) is not declared.", at: set)
        }
        if type.children("NavigationProperty").contains(where: { $0["Name"] == ClientOnlyMetadata.draftOrigin }) {
            return
        }
        for (kind, member, type) in [
            ("NavigationProperty", ClientOnlyMetadata.draftOrigin, name),
            ("Property", ClientOnlyMetadata.draftBase, "Edm.Binary"),
        ] {
            let added = element(kind, ["Name": member, "Type": type], at: set)
            mark(added)
            self.entityType(name)?.append(added)
        }
        set.append(
            element(
                "NavigationPropertyBinding", ["Path": ClientOnlyMetadata.draftOrigin, "Target": active], at: set))
    }

    private func entityType(_ name: String) -> MarkupElement? {
        guard let dot = name.lastIndex(of: ".") else { return nil }
        let (prefix, local) = (String(name[..<dot]), String(name[name.index(after: dot)...]))
        let own = service.root.children.flatMap { $0.children("Schema") }.filter {
            $0["Namespace"] == prefix || $0["Alias"] == prefix
        }
        return own.flatMap { $0.children("EntityType") }.first { $0["Name"] == local }
    }

    private func element(_ name: String, _ attributes: [String: String], at place: MarkupElement) -> MarkupElement {
        MarkupElement(
            name: name, namespace: MarkupNamespace.edm, vocabulary: .edm,
            attributes: attributes.sorted { $0.key < $1.key }.map {
                MarkupElement.Attribute(name: $0.key, prefix: nil, namespace: nil, value: $0.value)
            }, line: place.line, column: place.column, origin: place.origin)
    }

    // MARK: Marks

    /// Adds the annotation to an element, and to the members of a type, unless they have it.
    private func mark(_ element: MarkupElement) {
        switch element.name {
        case "EntityType": for child in element.children where child.vocabulary == .edm { mark(child) }
        case "EntitySet", "Property", "NavigationProperty": break
        default: return
        }
        let isMarked = element.children("Annotation").contains { $0["Term"] == ClientOnlyMetadata.clientOnlyTerm }
        guard !isMarked else { return }
        element.append(
            self.element("Annotation", ["Term": ClientOnlyMetadata.clientOnlyTerm, "Bool": "true"], at: element))
    }

    // MARK: Errors

    private static let declarations: Set<String> = [
        "EntityType", "ComplexType", "EnumType", "TypeDefinition", "Association",
    ]

    private func check(_ element: MarkupElement) throws(CSDLError) {
        switch element.name {
        case let name where Self.declarations.contains(name): break
        case "Annotations", "Annotation", "Documentation", "Using", "Term": break
        default: throw refused(element)
        }
        guard element.name == "EntityType" else { return }
        let hasStream = element.anyAttribute("HasStream") == "true"
        if hasStream || element.children("Property").contains(where: { $0["Type"] == "Edm.Stream" }) {
            throw CSDLError(
                .wrongKind, "The \(element.label) has a stream, which a service has to store.", at: element)
        }
    }

    private func refused(_ element: MarkupElement) -> CSDLError {
        CSDLError(.wrongKind, "A \(element.name) cannot be client-only.", at: element)
    }

    private func duplicate(_ element: MarkupElement, _ message: String) -> CSDLError {
        CSDLError(.duplicateName, message + " A client-only element needs a name of its own.", at: element)
    }
}
