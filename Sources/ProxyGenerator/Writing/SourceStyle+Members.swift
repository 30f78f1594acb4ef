internal import EDM

/// The members of entity and complex types.
extension SourceStyle {
    /// The property, as queries and the dynamic API name it.
    func declaration(of member: ServicePlan.Member, in owner: String, _ type: StructuredType) -> [String] {
        let kind =
            switch member.form {
            case .value(let value, _): "StructuralProperty<\(owner), \(value)>"
            case .toOne(let target): "ToOneProperty<\(owner), \(target)>"
            case .toMany(let target): "ToManyProperty<\(owner), \(target)>"
            case .stream: "StreamProperty<\(owner)>"
            case .plain: ""
            }
        let name = "    \(access)static let \(SwiftName.escaped(member.name)) = "
        let found = "\(metadata).property("
        let names = ["\(SwiftText.literal(member.property.name))", "of: \(SwiftText.literal(type.name))"]
        let call = found + names.joined(separator: ", ") + ")"
        let lines = kind.isEmpty ? Self.list(name + found, names, ")") : Self.list(name + kind + "(", [call], ")")
        return comment(of: member, isDeclaration: true) + lines
    }

    private func comment(of member: ServicePlan.Member, isDeclaration: Bool) -> [String] {
        let property = member.property
        let name = "`\(DocComment.code(property.name))`"
        // What has no accessor is described here.
        let hasAccessor: Bool
        let type = "`\(DocComment.typeName(property.type))`"
        switch member.form {
        case .value, .toOne, .toMany: hasAccessor = true
        case .stream, .plain: hasAccessor = false
        }
        if isDeclaration, hasAccessor { return DocComment.lines("The property \(name).", indentation: 4) }
        let rules = property.isNavigation ? "" : DocComment.constraints(property, isKey: member.isKey)
        return DocComment.lines("\(name), \(type)\(rules).", property.annotations, indentation: 4)
    }

    /// The member that reads and writes; nothing for what is neither value nor relation.
    func accessor(of member: ServicePlan.Member, in owner: String, isOpen: Bool) -> [String] {
        let name = SwiftName.escaped(member.name)
        let place = "\(owner).\(name)"
        let head = "    \(isOpen ? open : access)var \(name): "
        let body: [String]
        switch member.form {
        case .value(let type, let isRequired):
            let subject = isRequired ? "self[required: \(place)]" : "self[\(place)]"
            body = getSet(head + (isRequired ? type : type + "?"), subject)
        case .toOne(let target): body = getSet(head + "ToOne<\(target)>", "self[\(place)]")
        case .toMany(let target):
            body = [
                head + "ToMany<\(target)> {", "        get { self[\(place)] }",
                "        _modify { yield &self[\(place)] }", "    }",
            ]
        case .stream, .plain: return []
        }
        return [""] + comment(of: member, isDeclaration: false) + body
    }

    private func getSet(_ head: String, _ subject: String) -> [String] {
        [head + " {", "        get { \(subject) }", "        set { \(subject) = newValue }", "    }"]
    }
}
