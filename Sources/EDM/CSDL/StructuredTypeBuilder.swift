/// Builds entity and complex types, each after its base type, whose properties and key it inherits.
struct StructuredTypeBuilder {
    let index: SchemaIndex
    let navigations: NavigationTable
    let annotations: AnnotationIndex
    /// The enumeration types by their qualified names.
    let enumerations: [String: EnumerationType]

    func build() throws(CSDLError) -> [String: StructuredType] {
        var result: [String: StructuredType] = [:]
        for declaration in index.structuredTypes {
            let base = declaration.base.flatMap { result[$0] }
            // Counted before copying: a few base types with many properties can be inherited very often.
            try index.spend(
                (base?.properties.count ?? 0) + (base?.navigationProperties.count ?? 0)
                    + declaration.element.children.count, at: declaration.element)
            if base == nil, let name = declaration.base, index.types[name] != nil {
                try index.log.leaveOut(
                    declaration.element,
                    because: CSDLError(
                        .unresolvedName, "The base type \"\(name)\" of \"\(declaration.name)\" cannot be used.",
                        at: declaration.element))
                continue
            }
            result[declaration.name] = try index.log.salvage(declaration.element) { () throws(CSDLError) in
                try type(declaration, base: base)
            }
        }
        return result
    }

    private func type(
        _ declaration: SchemaIndex.TypeDeclaration, base: StructuredType?
    ) throws(CSDLError) -> StructuredType {
        let element = declaration.element
        var structural: [Property] = []
        var navigational: [Property] = []
        for child in element.children where child.vocabulary == .edm {
            guard child.name == "Property" || child.name == "NavigationProperty", !index.log.isUnusable(child) else {
                continue
            }
            let own = try index.log.salvage(child) { () throws(CSDLError) in
                child.name == "Property"
                    ? try property(child, of: declaration.name) : try navigationProperty(child, of: declaration.name)
            }
            guard let own else { continue }
            if let inherited = base?.findProperty(own.name) {
                try refuse(child, own, inherited, in: declaration)
            } else if own.isNavigation {
                navigational.append(own)
            } else {
                structural.append(own)
            }
        }
        let properties = (base?.properties ?? []) + structural
        let key = try KeyReader(index: index, enumerations: enumerations).key(of: declaration, base: base)
        let byName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let own = try annotations.annotations(of: element, declaration.name)
        let isOpen = try element.boolean("OpenType", default: false)
        let isAbstract = try element.boolean("Abstract", default: false)
        return StructuredType(
            kind: declaration.kind == .entity ? .entity : .complex, name: declaration.name, baseType: declaration.base,
            isAbstract: isAbstract, isOpen: isOpen || base?.isOpen == true,
            hasStream: try hasStream(element) || base?.hasStream == true, properties: properties,
            navigationProperties: (base?.navigationProperties ?? []) + navigational,
            keyProperties: Self.holders(of: key, byName), keyReferences: key,
            alternateKeys: (base?.alternateKeys ?? [])
                + AlternateKeyReader(index: index).keys(own, of: declaration.name),
            annotations: own,
            unusableProperties: (base?.unusableProperties ?? [])
                .union(index.omitted.properties[declaration.name] ?? []))
    }

    /// Handles a property that the base type already has. It is omitted if both have the same type; otherwise the
    /// values of the derived type would be undefined.
    private func refuse(
        _ element: MarkupElement, _ own: Property, _ inherited: Property, in declaration: SchemaIndex.TypeDeclaration
    ) throws(CSDLError) {
        let fault = CSDLError(
            .duplicateName,
            "\"\(declaration.name)\" already inherits a property \"\(own.name)\" from \"\(inherited.declaringType)\".",
            at: element)
        guard own.type == inherited.type, own.isNavigation == inherited.isNavigation else { throw fault }
        try index.log.leaveOut(element, because: fault)
    }

    /// Returns the properties that contain the values of a key, each once.
    private static func holders(of key: [KeyReference], _ byName: [String: Property]) -> [Property] {
        var holders: [Property] = []
        for reference in key {
            let root = reference.path.prefix { $0 != "/" }
            if let property = byName[String(root)], !holders.contains(property) { holders.append(property) }
        }
        return holders
    }

    /// Returns the value of `HasStream`, which V2 and V3 write as `m:HasStream`.
    private func hasStream(_ element: MarkupElement) throws(CSDLError) -> Bool {
        guard let text = element.anyAttribute("HasStream") else { return false }
        guard let value = Bool(csdl: text) else {
            throw CSDLError(
                .invalidValue, "HasStream=\"\(text)\" of the \(element.label) is not a Boolean.", at: element)
        }
        return value
    }

    private func property(_ element: MarkupElement, of owner: String) throws(CSDLError) -> Property {
        let reader = PropertyReader(index: index)
        let name = try element.declaredName()
        let type = try reader.type(of: element)
        if case .entity(let entity) = type.kind, !BuiltInType.isAbstract(entity) {
            throw CSDLError(
                .wrongKind,
                "The \(element.label) has the entity type \"\(entity)\", which only navigation properties can have.",
                at: element)
        }
        return Property(
            name: name, type: type, isNullable: try reader.isNullable(element),
            facets: try reader.facets(of: element), declaringType: owner,
            annotations: try annotations.annotations(of: element, "\(owner)/\(name)"))
    }

    private func navigationProperty(_ element: MarkupElement, of type: String) throws(CSDLError) -> Property {
        let name = try element.declaredName()
        guard let navigation = try navigations.navigation(of: element) else {
            throw CSDLError(.missing, "The target of the \(element.label) is not declared.", at: element)
        }
        return Property(
            name: name,
            type: navigations.target(of: element) ?? TypeReference(.unresolved(name: navigation.targetType)),
            isNullable: navigation.multiplicity == .zeroOrOne, navigation: navigation, declaringType: type,
            annotations: try annotations.annotations(of: element, "\(type)/\(name)"))
    }
}
