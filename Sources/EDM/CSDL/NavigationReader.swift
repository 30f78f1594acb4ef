/// Reads one navigation property in the form of V2 and V3 or in that of V4.
struct NavigationReader {
    let index: SchemaIndex

    /// Reads the element in the form that it has itself, because a document may mix both forms.
    func read(_ element: MarkupElement, of owner: String) throws(CSDLError) -> NavigationTable.Entry {
        let name = try element.declaredName()
        if element["Relationship"] != nil { return try legacy(element, name, owner) }
        let target = try target(of: element)
        switch target.kind {
        case .entity, .unresolved: break
        default:
            throw CSDLError(
                .wrongKind, "The target \"\(target.name)\" of the \(element.label) is not an entity type.", at: element)
        }
        let isNullable = try PropertyReader(index: index).isNullable(element)
        return NavigationTable.Entry(
            owner: owner, name: name, element: element, target: target,
            multiplicity: target.isCollection ? .many : isNullable ? .zeroOrOne : .one, association: nil, fromRole: "",
            toRole: "", constraints: try constraints(element, owner: owner, target: target.name),
            declaredPartner: element["Partner"])
    }

    /// Returns the target type. Without a declaration it can be any entity.
    private func target(of element: MarkupElement) throws(CSDLError) -> TypeReference {
        if let text = element["Type"] { return try index.type(text, at: element) }
        try index.log.tolerate(
            .missing, "The \(element.label) has neither a Type (V4) nor a Relationship (V2, V3).", at: element)
        return TypeReference(.entity(name: BuiltInType.entity))
    }

    private func legacy(
        _ element: MarkupElement, _ name: String, _ owner: String
    ) throws(CSDLError) -> NavigationTable.Entry {
        let relationship = index.qualified(try element.required("Relationship").trimmed, at: element)
        let fromRole = try element.required("FromRole")
        let toRole = try element.required("ToRole")
        guard let association = index.associations[relationship] else {
            guard !index.isOwn(relationship, at: element), relationship.contains(".") else {
                throw index.unresolved("association", relationship, at: element, of: "the \(element.label)")
            }
            return NavigationTable.Entry(
                owner: owner, name: name, element: element,
                target: TypeReference(.unresolved(name: relationship), isCollection: true), multiplicity: .many,
                association: nil, fromRole: fromRole, toRole: toRole, constraints: [], declaredPartner: nil)
        }
        guard association.end(fromRole) != nil, let target = association.end(toRole), fromRole != toRole else {
            throw CSDLError(
                .invalidAssociation,
                "The \(element.label) leads from \"\(fromRole)\" to \"\(toRole)\", but the roles of "
                    + "\"\(relationship)\" are \"\(association.first.role)\" and \"\(association.second.role)\".",
                at: element)
        }
        if let source = association.end(fromRole), !index.areCompatible(source.type, owner) {
            throw CSDLError(
                .invalidAssociation,
                "The \(element.label) of \"\(owner)\" starts at the role \"\(fromRole)\", whose type is "
                    + "\"\(source.type)\".", at: element)
        }
        let type = try index.type(target.type, at: element)
        return NavigationTable.Entry(
            owner: owner, name: name, element: element,
            target: TypeReference(type.kind, isCollection: target.multiplicity == .many),
            multiplicity: target.multiplicity, association: association, fromRole: fromRole, toRole: toRole,
            constraints: [], declaredPartner: nil)
    }

    private func constraints(
        _ element: MarkupElement, owner: String, target: String
    ) throws(CSDLError) -> [ReferentialConstraint] {
        var result: [ReferentialConstraint] = []
        for constraint in element.children("ReferentialConstraint") {
            let pair = try index.log.salvage(constraint) { () throws(CSDLError) in
                (try constraint.required("Property"), try constraint.required("ReferencedProperty"))
            }
            guard let (dependent, principal) = pair else { continue }
            var isComplete = true
            for (path, type) in [(dependent, owner), (principal, target)] {
                if case .missing(_, let place) = index.walk(path, from: type, at: constraint) {
                    isComplete = false
                    try index.log.tolerate(
                        .unknownProperty,
                        "The constraint of the \(element.label) names \"\(path)\", which \"\(place)\" does not have.",
                        at: constraint)
                }
            }
            guard isComplete else { continue }
            result.append(ReferentialConstraint(dependent: dependent, principal: principal))
        }
        return result
    }
}
