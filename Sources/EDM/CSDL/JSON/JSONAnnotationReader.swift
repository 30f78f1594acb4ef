/// Reads annotations of CSDL JSON as elements of CSDL XML.
struct JSONAnnotationReader {
    let origin: MarkupOrigin

    /// - Parameter member: the member, its name without the at sign: `Core.Description`, `UI.LineItem#Short`.
    func annotation(_ member: LocatedJSON.Member) -> MarkupElement {
        let parts = member.name.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        var element = JSONElement("Annotation", at: member.value, origin)
        // The model has no annotations of annotations; it must not be read as an annotation of the element.
        let path = parts[0].split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        if path.count > 1 { element.mark("The annotation \(clipped(member.name)) annotates another annotation.") }
        element.set("Term", String(parts[0]))
        element.set("Qualifier", parts.count > 1 ? String(parts[1]) : nil)
        express(member.value, in: &element)
        return element.element
    }

    /// Writes a constant or path into an attribute, and all other expressions into a child element.
    private func express(_ value: LocatedJSON, in element: inout JSONElement) {
        if let kind = Self.constant(value) {
            element.set(kind, value.text)
        } else if let path = Self.path(value) {
            element.set("Path", path)
        } else {
            element.append(expression(value))
        }
    }

    /// Returns the name of the XML element for a constant of that kind.
    private static func constant(_ value: LocatedJSON) -> String? {
        switch value.content {
        case .boolean: "Bool"
        case .string: "String"
        case .number(let text): Int64(text) == nil ? "Decimal" : "Int"
        case .null, .array, .object: nil
        }
    }

    private static func path(_ value: LocatedJSON) -> String? {
        guard let members = value.members, members.count == 1, members[0].name == "$Path" else { return nil }
        return members[0].value.string
    }

    /// Converts an expression. The recursion depth is bounded by the depth of the document.
    private func expression(_ value: LocatedJSON) -> MarkupElement {
        switch value.content {
        case .null: return JSONElement("Null", at: value, origin).element
        case .array(let items):
            var element = JSONElement("Collection", at: value, origin)
            for item in items { element.append(expression(item)) }
            return element.element
        case .object:
            let declaration = JSONDeclaration(value)
            return declaration.controlNames.isEmpty ? record(value, declaration) : dynamic(value, declaration)
        case .boolean, .number, .string:
            var element = JSONElement(Self.constant(value) ?? "String", at: value, origin)
            element.text = value.text ?? ""
            return element.element
        }
    }

    private func record(_ value: LocatedJSON, _ declaration: JSONDeclaration) -> MarkupElement {
        var element = JSONElement("Record", at: value, origin)
        element.mark(declaration.flaw)
        for annotation in declaration.annotations {
            if annotation.name == "type" || annotation.name == "odata.type" {
                // The type is a URL whose fragment is the name.
                element.set("Type", annotation.value.string?.split(separator: "#").last.map(String.init))
            } else {
                element.append(self.annotation(annotation))
            }
        }
        for member in declaration.named {
            var property = JSONElement("PropertyValue", at: member.value, origin)
            property.set("Property", member.name)
            express(member.value, in: &property)
            for annotation in declaration.annotations(of: member.name) { property.append(self.annotation(annotation)) }
            element.append(property.element)
        }
        return element.element
    }

    /// Converts a computed expression: `{"$Eq": [{"$Path": "A"}, 1]}`, `{"$Cast": …, "$Type": "Edm.Int32"}`.
    private func dynamic(_ value: LocatedJSON, _ declaration: JSONDeclaration) -> MarkupElement {
        if let path = Self.path(value) {
            var element = JSONElement("Path", at: value, origin)
            element.text = path
            return element.element
        }
        let names = declaration.controlNames
        let name = names.first(where: Self.expressions.contains) ?? names[0]
        var element = JSONElement(name, at: value, origin)
        element.mark(declaration.flaw)
        for other in names where other != name { element.set(other, declaration[other]?.text) }
        if let operands = declaration[name]?.items {
            for operand in operands { element.append(expression(operand)) }
        } else if let operand = declaration[name] {
            if name == "LabeledElementReference" {
                element.text = operand.text ?? ""
            } else {
                element.append(expression(operand))
            }
        }
        for annotation in declaration.annotations { element.append(self.annotation(annotation)) }
        return element.element
    }

    private static let expressions: Set<String> = [
        "Add", "And", "Apply", "Cast", "Div", "DivBy", "Eq", "Ge", "Gt", "Has", "If", "In", "IsOf", "LabeledElement",
        "LabeledElementReference", "Le", "Lt", "Mod", "Mul", "Ne", "Neg", "Not", "Null", "Or", "Path", "Sub", "UrlRef",
    ]
}
