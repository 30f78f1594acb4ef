/// Reads the associations of V2 and V3.
struct AssociationReader {
    let index: SchemaIndex

    func read(_ element: MarkupElement, in source: SchemaIndex.Source) throws(CSDLError) -> Association {
        let name = "\(source.namespace).\(try element.declaredName())"
        let ends = element.children("End")
        guard ends.count == 2 else {
            throw CSDLError(
                .invalidAssociation, "The association \"\(name)\" has \(ends.count) ends instead of two.", at: element)
        }
        let first = try end(ends[0])
        let second = try end(ends[1])
        guard first.role != second.role else {
            throw CSDLError(
                .invalidAssociation, "Both ends of the association \"\(name)\" have the role \"\(first.role)\".",
                at: ends[1])
        }
        var constraint: Association.Constraint?
        if let child = element.firstChild("ReferentialConstraint") {
            let read = try index.log.salvage(child) { () throws(CSDLError) in
                try self.constraint(child, first, second)
            }
            constraint = read ?? nil
        }
        return Association(
            name: name, first: first, second: second, constraint: constraint,
            annotations: AnnotationReader(index: index).attributes(of: element))
    }

    private func end(_ element: MarkupElement) throws(CSDLError) -> Association.End {
        let type = try index.type(try element.required("Type"), at: element)
        switch type.kind {
        case .entity, .unresolved: break
        default:
            throw CSDLError(.wrongKind, "The end's type \"\(type.name)\" is not an entity type.", at: element)
        }
        let literal = try element.required("Multiplicity")
        guard let multiplicity = Multiplicity(rawValue: String(literal.trimmed)) else {
            throw CSDLError(
                .unknownMultiplicity, "The multiplicity \"\(literal)\" is not \"0..1\", \"1\" or \"*\".",
                at: element)
        }
        let localName = type.name.split(separator: ".").last.map(String.init) ?? type.name
        return Association.End(
            role: element["Role"] ?? localName, type: type.name, multiplicity: multiplicity,
            onDelete: element.firstChild("OnDelete")?["Action"])
    }

    private func constraint(
        _ constraint: MarkupElement, _ first: Association.End, _ second: Association.End
    ) throws(CSDLError) -> Association.Constraint? {
        let principal = try side("Principal", of: constraint, first, second)
        let dependent = try side("Dependent", of: constraint, first, second)
        guard principal.end.role != dependent.end.role else {
            throw CSDLError(
                .invalidAssociation,
                "The role \"\(principal.end.role)\" is both principal and dependent in the constraint.", at: constraint)
        }
        guard principal.properties.count == dependent.properties.count else {
            try index.log.tolerate(
                .invalidAssociation,
                "The constraint pairs \(principal.properties.count) principal properties with \(dependent.properties.count) "
                    + "dependent properties.", at: constraint)
            return nil
        }
        let isReversed =
            !namesKey(principal.properties, of: principal.end) && namesKey(dependent.properties, of: dependent.end)
        let (referred, referring) = isReversed ? (dependent, principal) : (principal, dependent)
        return Association.Constraint(
            principalRole: referred.end.role, dependentRole: referring.end.role,
            pairs: zip(referring.properties, referred.properties).compactMap { dependent, principal in
                guard let dependent, let principal else { return nil }
                return ReferentialConstraint(dependent: dependent, principal: principal)
            })
    }

    /// Whether the properties are the key of the end's type, as required for a principal. Used to detect services
    /// that swap principal and dependent.
    private func namesKey(_ properties: [String?], of end: Association.End) -> Bool {
        var next: String? = end.type
        while let current = next, let declaration = index.types[current] {
            if let key = declaration.element.firstChild("Key") {
                return Set(key.children("PropertyRef").map { $0["Name"] }) == Set(properties)
            }
            next = declaration.base
        }
        return false
    }

    private func side(
        _ name: String, of constraint: MarkupElement, _ first: Association.End, _ second: Association.End
    ) throws(CSDLError) -> (end: Association.End, properties: [String?]) {
        guard let element = constraint.firstChild(name) else {
            throw CSDLError(.missing, "The constraint has no \(name).", at: constraint)
        }
        let role = try element.required("Role")
        guard let end = first.role == role ? first : second.role == role ? second : nil else {
            throw CSDLError(
                .invalidAssociation, "The \(name)'s role \"\(role)\" is not a role of the association.", at: element)
        }
        var properties: [String?] = []
        for reference in element.children("PropertyRef") {
            let property = try reference.required("Name")
            guard case .missing(_, let type) = index.walk(property, from: end.type, at: reference) else {
                properties.append(property)
                continue
            }
            // A placeholder, so that the following properties are still paired correctly.
            properties.append(nil)
            try index.log.tolerate(
                .unknownProperty, "The \(name)'s property \"\(property)\" is not a property of \"\(type)\".",
                at: reference)
        }
        return (end, properties)
    }
}
