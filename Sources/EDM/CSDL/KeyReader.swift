/// Reads and checks the key of an entity type.
struct KeyReader {
    let index: SchemaIndex
    let enumerations: [String: EnumerationType]

    /// Returns the type's own key, otherwise that of its base type.
    func key(
        of declaration: SchemaIndex.TypeDeclaration, base: StructuredType?
    ) throws(CSDLError) -> [KeyReference] {
        let keys = declaration.element.children("Key")
        guard let key = keys.first else { return base?.keyReferences ?? [] }
        guard declaration.kind == .entity else {
            // Complex values have no identity.
            let fault = CSDLError(.invalidKey, "The complex type \"\(declaration.name)\" has a key.", at: key)
            try index.log.leaveOut(key, because: fault)
            return []
        }
        guard keys.count == 1 else {
            throw CSDLError(.invalidKey, "\"\(declaration.name)\" has more than one key.", at: keys[1])
        }
        if let base, !base.keyReferences.isEmpty {
            let fault = CSDLError(
                .invalidKey, "\"\(declaration.name)\" has a key although it inherits one from \"\(base.name)\".",
                at: key)
            guard key.children("PropertyRef").map({ $0["Name"] }) == base.keyReferences.map({ $0.path }) else {
                throw fault
            }
            try index.log.leaveOut(key, because: fault)
            return base.keyReferences
        }
        var names: Set<String> = []
        var result: [KeyReference] = []
        for element in key.children("PropertyRef") {
            let reference = try reference(element, of: declaration)
            guard names.insert(reference.alias ?? reference.path).inserted else {
                throw CSDLError(
                    .invalidKey, "The key of \"\(declaration.name)\" names \"\(reference.path)\" twice.", at: element)
            }
            result.append(reference)
        }
        guard !result.isEmpty else {
            throw CSDLError(.invalidKey, "The key of \"\(declaration.name)\" names no property.", at: key)
        }
        return result
    }

    private func reference(
        _ element: MarkupElement, of declaration: SchemaIndex.TypeDeclaration
    ) throws(CSDLError) -> KeyReference {
        let path = try element.required("Name")
        var type: TypeReference?
        switch index.walk(path, from: declaration.name, at: element) {
        case .beyond: break
        case .missing(let name, let type):
            guard !index.isOmitted(name, of: type) else {
                throw CSDLError(
                    .invalidKey, "The property \"\(name)\" in the key of \"\(declaration.name)\" cannot be used.",
                    at: element)
            }
            try index.log.tolerate(
                .unknownProperty,
                "The key of \"\(declaration.name)\" names \"\(path)\", but \"\(type)\" has no property \"\(name)\".",
                at: element)
        case .found(let property): type = try check(property, path, element)
        }
        let alias = element["Alias"]
        if path.contains("/"), alias == nil {
            throw CSDLError(.invalidKey, "The path \"\(path)\" in a key needs an alias.", at: element)
        }
        return KeyReference(path: path, alias: alias, type: type, enumeration: type.flatMap { enumerations[$0.name] })
    }

    /// Returns the type of a key value, which must be comparable: a single primitive or enumeration value.
    private func check(
        _ property: MarkupElement, _ path: String, _ element: MarkupElement
    ) throws(CSDLError) -> TypeReference {
        guard property.name == "Property", let text = property["Type"] else {
            throw CSDLError(.invalidKey, "\"\(path)\" in a key is not a structural property.", at: element)
        }
        let type = try index.type(text, at: property)
        let isSimple =
            switch type.kind {
            case .complex, .entity: false
            case .primitive(let primitive), .typeDefinition(_, let primitive): primitive != .stream && !primitive.isGeo
            case .enumeration, .unresolved: true
            }
        guard isSimple, !type.isCollection else {
            throw CSDLError(
                .invalidKey, "\"\(path)\" of the type \"\(text)\" cannot be part of a key.", at: element)
        }
        return type
    }
}
