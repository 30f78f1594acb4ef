/// Finds declarations in the same scope whose names differ only in case: types of a namespace, properties of a type
/// and its base types, members of an enumeration, and resources of a container.
struct CaseConflicts {
    let index: SchemaIndex

    /// Throws the first conflict.
    func refuse() throws(CSDLError) {
        var types: [String: MarkupElement] = [:]
        var members: [String: [String: MarkupElement]] = [:]
        for declaration in index.declarations {
            try record(declaration.element, as: declaration.name, in: &types)
            if declaration.kind == .enumeration {
                var names: [String: MarkupElement] = [:]
                for member in declaration.element.children("Member") { try record(member, in: &names) }
            }
        }
        for declaration in index.structuredTypes {
            members[declaration.name] = try properties(of: declaration, members)
        }
        for container in index.sources.flatMap({ $0.element.children("EntityContainer") }) {
            var names: [String: MarkupElement] = [:]
            for child in container.children where Self.offered.contains(child.name) { try record(child, in: &names) }
        }
    }

    private static let offered: Set<String> = ["EntitySet", "Singleton", "ActionImport", "FunctionImport"]

    /// Returns the type's own properties by lowercase name. Base types are processed first and contained in
    /// `members`.
    private func properties(
        of declaration: SchemaIndex.TypeDeclaration, _ members: [String: [String: MarkupElement]]
    ) throws(CSDLError) -> [String: MarkupElement] {
        var own: [String: MarkupElement] = [:]
        for child in declaration.element.children
        where child.isModel("Property") || child.isModel("NavigationProperty") {
            try record(child, in: &own)
            guard let name = child["Name"]?.lowercased() else { continue }
            var next = declaration.base
            while let base = next {
                if let other = members[base]?[name] { try compare(child, with: other) }
                next = index.types[base]?.base
            }
        }
        return own
    }

    private func record(
        _ element: MarkupElement, as name: String? = nil, in names: inout [String: MarkupElement]
    ) throws(CSDLError) {
        guard let key = (name ?? element["Name"])?.lowercased() else { return }
        if let other = names.updateValue(element, forKey: key) { try compare(element, with: other) }
    }

    /// Identical names are handled elsewhere.
    private func compare(_ element: MarkupElement, with other: MarkupElement) throws(CSDLError) {
        guard element["Name"] != other["Name"] else { return }
        throw CSDLError(
            .caseConflict,
            "The names of the \(element.label) and of the \(other.label) in \(other.place) differ only in case.",
            at: element)
    }
}
