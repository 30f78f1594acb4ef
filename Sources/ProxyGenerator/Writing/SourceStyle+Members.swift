internal import EDM

/// The members of entity and complex types.
extension SourceStyle {
    /// Returns the declaration of the property for queries and the dynamic API.
    func declaration(of member: ServicePlan.Member, in owner: String, _ type: StructuredType) -> [String] {
        let kind =
            switch member.form {
            case .value(let value, _): "StructuralProperty<\(owner), \(value)>"
            case .toOne(let target): "ToOneProperty<\(owner), \(target)>"
            case .toMany(let target): "ToManyProperty<\(owner), \(target)>"
            case .stream: "StreamProperty<\(owner)>"
            case .plain: ""
            }
        let name = "\(access)static let \(SwiftName.escaped(member.name)) = "
        let names = [SwiftText.literal(member.property.name), "of: \(SwiftText.literal(type.name))"]
        func found(_ head: String) -> Layout { .call("\(head)\(metadata).property(", names) }
        let start = comment(of: member, isDeclaration: true)
        guard !kind.isEmpty else { return start + found(name).lines(indentation: 4) }
        guard 4 + name.count + kind.count + 1 > Layout.width else {
            return start + Layout.group("\(name)\(kind)(", [found("")], ")", .call).lines(indentation: 4)
        }
        return start + ["    " + name.dropLast()]
            + Layout.group("\(kind)(", [found("")], ")", .call).lines(indentation: 8)
    }

    private func comment(of member: ServicePlan.Member, isDeclaration: Bool) -> [String] {
        let property = member.property
        let name = "`\(DocComment.code(property.name))`"
        // A property without accessor has its description here.
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

    /// Returns the accessor of the member; empty if the member is neither a value nor a relationship.
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
