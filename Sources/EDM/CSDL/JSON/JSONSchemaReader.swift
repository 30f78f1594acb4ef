/// Reads the declarations of one CSDL JSON schema as CSDL XML elements.
struct JSONSchemaReader {
    let origin: MarkupOrigin
    private let expressions: JSONAnnotationReader

    init(origin: MarkupOrigin) {
        self.origin = origin
        expressions = JSONAnnotationReader(origin: origin)
    }

    func schema(_ member: LocatedJSON.Member) -> MarkupElement {
        let declaration = JSONDeclaration(member.value)
        var schema = JSONElement("Schema", at: member.value, origin)
        schema.set("Namespace", member.name)
        schema.set("Alias", declaration["Alias"])
        schema.mark(declaration.flaw)
        for child in declaration.named {
            if let overloads = child.value.items {
                for overload in overloads { schema.append(operation(child.name, overload)) }
            } else {
                schema.append(self.child(child))
            }
        }
        annotate(&schema, declaration)
        for target in declaration["Annotations"]?.members ?? [] {
            let annotations = JSONDeclaration(target.value)
            var block = JSONElement("Annotations", at: target.value, origin)
            block.set("Target", target.name)
            block.mark(annotations.flaw)
            annotate(&block, annotations)
            schema.append(block.element)
        }
        return schema.element
    }

    private func child(_ member: LocatedJSON.Member) -> MarkupElement {
        let declaration = JSONDeclaration(member.value)
        let kind = declaration["Kind"]?.string ?? ""
        var element = JSONElement(kind.isEmpty ? "Declaration" : kind, at: member.value, origin)
        element.set("Name", member.name)
        element.mark(declaration.flaw)
        switch kind {
        case "EntityType", "ComplexType": structured(&element, declaration)
        case "EnumType": enumeration(&element, declaration)
        case "TypeDefinition":
            element.set("UnderlyingType", declaration["UnderlyingType"])
            facets(&element, declaration, type: declaration["UnderlyingType"]?.string)
        case "Term": term(&element, declaration)
        case "EntityContainer": container(&element, declaration)
        default:
            let found = kind.isEmpty ? "no $Kind" : "the $Kind \(clipped(kind))"
            element.mark("The declaration of \(clipped(member.name)) has \(found), which a schema cannot have.")
        }
        annotate(&element, declaration)
        return element.element
    }

    private func annotate(_ element: inout JSONElement, _ declaration: JSONDeclaration) {
        for annotation in declaration.annotations { element.append(expressions.annotation(annotation)) }
    }

    // MARK: Types

    private func structured(_ element: inout JSONElement, _ declaration: JSONDeclaration) {
        for name in ["BaseType", "Abstract", "OpenType", "HasStream"] { element.set(name, declaration[name]) }
        if let key = declaration["Key"] { append(key, to: &element) }
        for member in declaration.named { element.append(property(member)) }
    }

    private func append(_ key: LocatedJSON, to type: inout JSONElement) {
        guard let items = key.items else {
            type.mark("$Key is \(key.kindName), not an array.")
            return
        }
        var element = JSONElement("Key", at: key, origin)
        for item in items {
            // A name, or an alias with the path that it represents.
            let references: [(path: String?, alias: String?)] =
                item.members?.map { ($0.value.string, $0.name) } ?? [(item.string, nil)]
            for (path, alias) in references {
                guard let path else {
                    type.mark("An item of $Key is \(item.kindName), not a name or an alias with a path.")
                    continue
                }
                var reference = JSONElement("PropertyRef", at: item, origin)
                reference.set("Name", path)
                reference.set("Alias", alias)
                element.append(reference.element)
            }
        }
        type.append(element.element)
    }

    private func property(_ member: LocatedJSON.Member) -> MarkupElement {
        let declaration = JSONDeclaration(member.value)
        let kind = declaration["Kind"]?.string ?? "Property"
        var element = JSONElement(kind, at: member.value, origin)
        element.set("Name", member.name)
        element.mark(declaration.flaw)
        switch kind {
        case "Property": typed(&element, declaration)
        case "NavigationProperty": navigation(&element, declaration)
        default:
            element.mark(
                "The property \(clipped(member.name)) has the $Kind \(clipped(kind)), which a property cannot have.")
        }
        annotate(&element, declaration)
        return element.element
    }

    /// Sets the attributes that properties, parameters, terms and results share.
    private func typed(_ element: inout JSONElement, _ declaration: JSONDeclaration) {
        let type = declaration["Type"].map { $0.text } ?? "Edm.String"
        setType(&element, type, declaration)
        setNullable(&element, declaration)
        facets(&element, declaration, type: type)
    }

    private func setType(_ element: inout JSONElement, _ type: String?, _ declaration: JSONDeclaration) {
        guard let type else {
            element.mark("$Type is \(declaration["Type"]?.kindName ?? "missing").")
            return
        }
        let collection = declaration["Collection"]
        guard let isCollection = Bool(csdl: collection.map { $0.text ?? "" } ?? "false") else {
            element.mark("$Collection is \(collection?.kindName ?? "missing"), not a Boolean.")
            return
        }
        element.set("Type", isCollection ? "Collection(\(type))" : type)
    }

    private func setNullable(_ element: inout JSONElement, _ declaration: JSONDeclaration) {
        if declaration["Nullable"] == nil { element.set("Nullable", "false") }
        element.set("Nullable", declaration["Nullable"])
    }

    private func facets(_ element: inout JSONElement, _ declaration: JSONDeclaration, type: String?) {
        for name in ["MaxLength", "Precision", "Scale", "Unicode", "SRID"] { element.set(name, declaration[name]) }
        // In JSON, a decimal without scale has a variable scale; in XML, the scale 0.
        if type == "Edm.Decimal", declaration["Scale"] == nil { element.set("Scale", "variable") }
        if let value = declaration["DefaultValue"], case .null = value.content { return }
        element.set("DefaultValue", declaration["DefaultValue"])
    }

    private func navigation(_ element: inout JSONElement, _ declaration: JSONDeclaration) {
        if declaration["Type"] != nil { setType(&element, declaration["Type"]?.text, declaration) }
        setNullable(&element, declaration)
        element.set("Partner", declaration["Partner"])
        element.set("ContainsTarget", declaration["ContainsTarget"])
        if let constraints = declaration["ReferentialConstraint"] {
            let pairs = JSONDeclaration(constraints)
            element.mark(pairs.flaw)
            for pair in pairs.named {
                var constraint = JSONElement("ReferentialConstraint", at: pair.value, origin)
                constraint.set("Property", pair.name)
                constraint.set("ReferencedProperty", pair.value)
                for annotation in pairs.annotations(of: pair.name) {
                    constraint.append(expressions.annotation(annotation))
                }
                element.append(constraint.element)
            }
        }
        if let action = declaration["OnDelete"] {
            var onDelete = JSONElement("OnDelete", at: action, origin)
            onDelete.set("Action", action)
            for annotation in declaration.annotations(of: "$OnDelete") {
                onDelete.append(expressions.annotation(annotation))
            }
            element.append(onDelete.element)
        }
    }

    private func enumeration(_ element: inout JSONElement, _ declaration: JSONDeclaration) {
        element.set("UnderlyingType", declaration["UnderlyingType"])
        element.set("IsFlags", declaration["IsFlags"])
        for member in declaration.named {
            var item = JSONElement("Member", at: member.value, origin)
            item.set("Name", member.name)
            // Otherwise it would get the next number.
            if member.value.text == nil {
                element.mark("The member \(clipped(member.name)) is \(member.value.kindName), not a number.")
            }
            item.set("Value", member.value.text)
            for annotation in declaration.annotations(of: member.name) {
                item.append(expressions.annotation(annotation))
            }
            element.append(item.element)
        }
    }

    private func term(_ element: inout JSONElement, _ declaration: JSONDeclaration) {
        typed(&element, declaration)
        element.set("BaseTerm", declaration["BaseTerm"])
        element.set("AppliesTo", declaration["AppliesTo"]?.items?.compactMap(\.string).joined(separator: " "))
    }

    // MARK: Operations

    private func operation(_ name: String, _ value: LocatedJSON) -> MarkupElement {
        let declaration = JSONDeclaration(value)
        let kind = declaration["Kind"]?.string ?? ""
        var element = JSONElement(kind.isEmpty ? "Overload" : kind, at: value, origin)
        element.set("Name", name)
        element.mark(declaration.flaw)
        if kind != "Action", kind != "Function" {
            element.mark("The $Kind of an overload of \(clipped(name)) is neither Action nor Function.")
        }
        for attribute in ["IsBound", "IsComposable", "EntitySetPath"] { element.set(attribute, declaration[attribute]) }
        if let parameters = declaration["Parameter"] {
            if parameters.items == nil { element.mark("$Parameter is \(parameters.kindName), not an array.") }
            for item in parameters.items ?? [] {
                let parameter = JSONDeclaration(item)
                var child = JSONElement("Parameter", at: item, origin)
                child.set("Name", parameter["Name"])
                // An operation with one parameter fewer would be another operation.
                child.mark(parameter.flaw)
                typed(&child, parameter)
                element.mark(child.flaw)
                annotate(&child, parameter)
                element.append(child.element)
            }
        }
        if let result = declaration["ReturnType"] {
            let returned = JSONDeclaration(result)
            var child = JSONElement("ReturnType", at: result, origin)
            child.mark(returned.flaw)
            typed(&child, returned)
            element.mark(child.flaw)
            annotate(&child, returned)
            element.append(child.element)
        }
        annotate(&element, declaration)
        return element.element
    }

    // MARK: Containers

    private func container(_ element: inout JSONElement, _ declaration: JSONDeclaration) {
        element.set("Extends", declaration["Extends"])
        for member in declaration.named { element.append(resource(member)) }
    }

    private func resource(_ member: LocatedJSON.Member) -> MarkupElement {
        let declaration = JSONDeclaration(member.value)
        let isImport = declaration["Action"] != nil || declaration["Function"] != nil
        let isSingleton =
            declaration["Type"] != nil && declaration["Collection"]?.text.flatMap { Bool(csdl: $0) } != true
        let name =
            isImport
            ? (declaration["Action"] != nil ? "ActionImport" : "FunctionImport")
            : (isSingleton ? "Singleton" : "EntitySet")
        var element = JSONElement(name, at: member.value, origin)
        element.set("Name", member.name)
        element.mark(declaration.flaw)
        for attribute in ["Action", "Function", "EntitySet", "IncludeInServiceDocument"] {
            element.set(attribute, declaration[attribute])
        }
        if !isImport { element.set(isSingleton ? "Type" : "EntityType", declaration["Type"]) }
        let bindings = declaration["NavigationPropertyBinding"].map(JSONDeclaration.init)
        element.mark(bindings?.flaw)
        for binding in bindings?.named ?? [] {
            var child = JSONElement("NavigationPropertyBinding", at: binding.value, origin)
            child.set("Path", binding.name)
            child.set("Target", binding.value)
            element.append(child.element)
        }
        annotate(&element, declaration)
        return element.element
    }
}
