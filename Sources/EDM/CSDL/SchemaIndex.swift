/// The declarations of documents by qualified name, before anything is resolved.
///
/// The index checks names: declarations are unique per schema, and an alias stands for one namespace. Aliases are
/// local to a document, so a name is looked up together with the element at which it is written.
final class SchemaIndex {
    struct TypeDeclaration {
        enum TypeKind { case entity, complex, enumeration, definition }

        let kind: TypeKind
        let name: String
        let element: MarkupElement
        /// The qualified name of the base type, for structured types.
        fileprivate(set) var base: String?

        var isStructured: Bool { kind == .entity || kind == .complex }
    }

    /// One `Schema` element.
    struct Source {
        let element: MarkupElement
        let namespace: String
        let alias: String?
    }

    let sources: [Source]
    /// The types in the order of the documents.
    private(set) var declarations: [TypeDeclaration] = []
    private(set) var types: [String: TypeDeclaration] = [:]
    /// Entity and complex types, each after its base type.
    private(set) var structuredTypes: [TypeDeclaration] = []
    private(set) var associations: [String: Association] = [:]
    let log: DefectLog
    /// The elements that were removed from the documents.
    let omitted: RemovedElements
    private let budget: Int
    private var spent = 0
    /// The qualified names of actions and functions.
    private(set) var operations: Set<String> = []

    private let names: [SchemaNames]
    private var members: [String: [String: MarkupElement]] = [:]
    /// For each document, its types by name without namespace; the first one of each name.
    private var localNames: [[String: String]]
    /// For each document, the resolved type names.
    private var resolved: [[String: TypeReference.ReferencedType]]

    /// - Parameter documents: the documents; the index of each is the position in its elements' origin.
    init(
        _ documents: [MetadataDocument], limits: CSDLReader.Limits, log: DefectLog,
        omitted: RemovedElements = RemovedElements()
    ) throws(CSDLError) {
        self.log = log
        self.omitted = omitted
        budget = limits.properties
        localNames = documents.map { _ in [:] }
        resolved = documents.map { _ in [:] }
        var names: [SchemaNames] = []
        for document in documents { names.append(try SchemaNames(document, log)) }
        self.names = names
        sources = names.flatMap(\.sources)
        for source in sources {
            try checkNames(of: source)
            try declareTypesAndOperations(of: source)
        }
        try nameBaseTypes()
        structuredTypes = try InheritanceOrder(index: self, limit: limits.baseTypes).order()
        for declaration in structuredTypes { try declareMembers(of: declaration) }
        for source in sources { try declareAssociations(of: source) }
    }

    // MARK: Limits

    /// Counts inherited properties and bindings, whose number is not bounded by the length of the document.
    func spend(_ count: Int, at element: MarkupElement) throws(CSDLError) {
        spent += count
        guard spent <= budget else {
            throw CSDLError(
                .tooLarge,
                "The types and sets have more than \(budget) properties and bindings, inherited ones included.",
                at: element)
        }
    }

    // MARK: Names

    /// Returns the name, as written at the element, with its alias replaced by the namespace.
    func qualified(_ name: some StringProtocol, at element: MarkupElement) -> String {
        guard let dot = name.lastIndex(of: ".") else { return String(name) }
        let prefix = String(name[..<dot])
        guard let namespace = namespace(prefix, at: element), namespace != prefix else { return String(name) }
        return namespace + name[dot...]
    }

    /// Returns the namespace of a namespace or alias at the element, or `nil` if it is neither.
    private func namespace(_ prefix: String, at element: MarkupElement) -> String? {
        names[element.origin.position].namespace(prefix, in: element.origin.schema)
    }

    /// Whether the prefix is the alias of a schema of the element's document.
    func isOwnAlias(_ prefix: String, at element: MarkupElement) -> Bool {
        names[element.origin.position].sources.contains { $0.alias == prefix && $0.namespace != prefix }
    }

    /// Whether the qualified name is in a namespace that the element's document declares and does not include.
    func isOwn(_ name: String, at element: MarkupElement) -> Bool {
        guard let dot = name.lastIndex(of: ".") else { return false }
        return names[element.origin.position].own.contains(String(name[..<dot]))
    }

    /// Returns the error for a name in an own namespace whose declaration is missing or unusable.
    func unresolved(_ what: String, _ name: String, at element: MarkupElement, of owner: String = "") -> CSDLError {
        let subject = owner.isEmpty ? "The \(what) \"\(name)\"" : "The \(what) \"\(name)\" of \(owner)"
        let reason = omitted.paths.contains(name) ? "cannot be used" : "is not declared"
        return CSDLError(.unresolvedName, "\(subject) \(reason).", at: element)
    }

    /// Whether the type or one of its base types declares an omitted property of that name.
    func isOmitted(_ property: String, of type: String) -> Bool {
        var next: String? = type
        while let current = next {
            if omitted.properties[current]?.contains(property) == true { return true }
            next = types[current]?.base
        }
        return false
    }

    // MARK: Declaring

    private func checkNames(of source: Source) throws(CSDLError) {
        var open = [source.element]
        while let element = open.popLast() {
            open += element.children.reversed()
            if let flaw = element.flaw {
                try log.leaveOut(element, because: CSDLError(.invalidValue, flaw, at: element))
            }
            // A key may name a path.
            guard element.vocabulary == .edm, element.name != "PropertyRef", let name = element["Name"],
                !name.isSimpleIdentifier
            else { continue }
            try log.tolerate(
                .invalidName, "The name \"\(name)\" of the \(element.name) is not a valid identifier.", at: element)
        }
    }

    private func declareTypesAndOperations(of source: Source) throws(CSDLError) {
        for element in source.element.children where element.vocabulary == .edm {
            _ = try log.salvage(element) { () throws(CSDLError) in try declare(element, in: source.namespace) }
        }
    }

    private func declare(_ element: MarkupElement, in namespace: String) throws(CSDLError) {
        let kind: TypeDeclaration.TypeKind
        switch element.name {
        case "EntityType": kind = .entity
        case "ComplexType": kind = .complex
        case "EnumType": kind = .enumeration
        case "TypeDefinition": kind = .definition
        case "Action", "Function":
            operations.insert("\(namespace).\(try element.declaredName())")
            return
        default: return
        }
        let localName = try element.declaredName()
        let name = "\(namespace).\(localName)"
        let position = element.origin.position
        if localNames[position][localName] == nil { localNames[position][localName] = name }
        if let first = types[name] {
            return try log.refuse(
                element, asAnother: first.element,
                "The type \"\(name)\" is already declared, in \(first.element.place).")
        }
        let declaration = TypeDeclaration(kind: kind, name: name, element: element, base: nil)
        types[name] = declaration
        declarations.append(declaration)
    }

    /// Resolves base types after all types are known, because their namespace can be omitted as in other type names.
    private func nameBaseTypes() throws(CSDLError) {
        for place in declarations.indices where declarations[place].isStructured {
            let element = declarations[place].element
            guard let text = element["BaseType"].map({ String($0.trimmed) }) else { continue }
            let base: String
            if text.contains(".") {
                base = qualified(text, at: element)
            } else if let local = localNames[element.origin.position][text] {
                base = local
            } else {
                try log.leaveOut(
                    element, because: unresolved("base type", text, at: element, of: "\"\(declarations[place].name)\""))
                continue
            }
            guard !base.hasPrefix("Edm.") else {
                try log.tolerate(
                    .wrongKind, "The \(element.label) derives from \"\(base)\", which no document declares.",
                    at: element)
                continue
            }
            declarations[place].base = base
            types[declarations[place].name] = declarations[place]
        }
    }

    private func declareMembers(of declaration: TypeDeclaration) throws(CSDLError) {
        var table: [String: MarkupElement] = [:]
        for element in declaration.element.children
        where element.isModel("Property") || element.isModel("NavigationProperty") {
            let name = try log.salvage(element) { () throws(CSDLError) in try element.declaredName() }
            guard let name else { continue }
            guard let first = table[name] else {
                table[name] = element
                continue
            }
            try log.refuse(
                element, asAnother: first,
                "\"\(declaration.name)\" already has a property \"\(name)\", in line \(first.line).")
        }
        members[declaration.name] = table
    }

    private func declareAssociations(of source: Source) throws(CSDLError) {
        var elements: [String: MarkupElement] = [:]
        for element in source.element.children("Association") {
            let association = try log.salvage(element) { () throws(CSDLError) in
                try AssociationReader(index: self).read(element, in: source)
            }
            guard let association else { continue }
            if let first = elements.updateValue(element, forKey: association.name) {
                try log.refuse(
                    element, asAnother: first, "The association \"\(association.name)\" is declared twice.")
            }
            associations[association.name] = association
        }
    }

    // MARK: Types

    /// Returns the type for a type name written at `element`, with or without `Collection(…)`.
    func type(_ text: String, at element: MarkupElement) throws(CSDLError) -> TypeReference {
        var name = text.trimmed
        var isCollection = false
        if name.hasPrefix("Collection("), name.hasSuffix(")") {
            isCollection = true
            name = String(name.dropFirst("Collection(".count).dropLast()).trimmed
        }
        let key = String(name)
        let position = element.origin.position
        // A schema of V2 may have its own aliases.
        let isShared = !names[position].hasUsings
        if isShared, let known = resolved[position][key] { return TypeReference(known, isCollection: isCollection) }
        let kind = try kind(of: key, at: element)
        if isShared { resolved[position][key] = kind }
        return TypeReference(kind, isCollection: isCollection)
    }

    private func kind(of text: String, at element: MarkupElement) throws(CSDLError) -> TypeReference.ReferencedType {
        if let builtIn = BuiltInType.kind(text) { return builtIn }
        guard let name = qualifiedTypeName(text, at: element) else {
            throw CSDLError(.invalidName, "\"\(text)\" at the \(element.label) is not a type name.", at: element)
        }
        if name.hasPrefix("Edm.") {
            try log.tolerate(.unresolvedName, "There is no primitive type \"\(name)\".", at: element)
        }
        guard let declaration = types[name] else {
            guard !isOwn(name, at: element) else { throw unresolved("type", name, at: element) }
            return .unresolved(name: name)
        }
        switch declaration.kind {
        case .entity: return .entity(name: name)
        case .complex: return .complex(name: name)
        case .enumeration: return .enumeration(name: name)
        case .definition:
            return .typeDefinition(name: name, underlying: try underlyingType(of: declaration.element))
        }
    }

    /// Returns the qualified name of a type.
    ///
    /// Some V2 documents omit their own namespace. Some have a namespace that is not an identifier, whose
    /// declarations are accepted nevertheless.
    private func qualifiedTypeName(_ text: String, at element: MarkupElement) -> String? {
        let position = element.origin.position
        guard let dot = text.lastIndex(of: ".") else {
            return localNames[position][text]
        }
        let isName = text.isQualifiedName || namespace(String(text[..<dot]), at: element) != nil
        return isName ? qualified(text, at: element) : nil
    }

    /// Returns the underlying primitive type of a type definition.
    func underlyingType(of definition: MarkupElement) throws(CSDLError) -> PrimitiveType {
        guard let text = definition["UnderlyingType"] else {
            try log.tolerate(.missing, "The \(definition.label) has no attribute UnderlyingType.", at: definition)
            return .primitiveType
        }
        guard case .primitive(let type)? = BuiltInType.kind(String(text.trimmed)) else {
            throw CSDLError(
                .wrongKind, "The underlying type \"\(text)\" of the \(definition.label) is not primitive.",
                at: definition)
        }
        return type
    }

    // MARK: Members

    enum Lookup {
        case found(MarkupElement)
        /// The type and all its base types are known, and none has such a property.
        case missing(String, in: String)
        /// The property may be in a document that was not read, or the type is open.
        case beyond
    }

    /// Looks up the property in a type and its base types.
    func member(_ name: some StringProtocol, of type: String) -> Lookup {
        var current = type
        while let declaration = types[current], declaration.isStructured {
            if let element = members[current]?[String(name)] { return .found(element) }
            if declaration.element["OpenType"].flatMap({ Bool(csdl: $0) }) == true { return .beyond }
            guard let base = declaration.base else { return .missing(String(name), in: type) }
            current = base
        }
        return .beyond
    }

    /// Follows a path of properties, casts and annotations, written at the element, as far as the documents declare
    /// it.
    func walk(_ path: some StringProtocol, from type: String, at element: MarkupElement) -> Lookup {
        var current = type
        var last: MarkupElement?
        for segment in path.split(separator: "/", omittingEmptySubsequences: false) {
            if segment.contains("@") || segment.hasPrefix("$") { return last.map(Lookup.found) ?? .beyond }
            if segment.contains(".") {
                current = qualified(segment, at: element)
                continue
            }
            switch member(segment, of: current) {
            case .found(let member):
                last = member
                current = memberType(of: member) ?? ""
            case let other: return other
            }
        }
        return last.map(Lookup.found) ?? .beyond
    }

    /// Returns the qualified name of the type of a property, or of the target of a navigation property.
    private func memberType(of element: MarkupElement) -> String? {
        if let relationship = element["Relationship"], let role = element["ToRole"] {
            return associations[qualified(relationship.trimmed, at: element)]?.end(role)?.type
        }
        guard let text = element["Type"] else { return nil }
        return (try? type(text, at: element))?.name
    }

    /// Whether `type` is `base` or derives from it, or `nil` if a base type is not in the documents.
    func isType(_ type: String, derivedFrom base: String) -> Bool? {
        var current = type
        while true {
            if current == base { return true }
            guard let declaration = types[current] else { return nil }
            guard let next = declaration.base else { return false }
            current = next
        }
    }

    /// Whether an entity can have both types: one derives from the other, as far as the documents declare it.
    func areCompatible(_ a: String, _ b: String) -> Bool {
        if BuiltInType.isAbstract(a) || BuiltInType.isAbstract(b) { return true }
        return isType(a, derivedFrom: b) != false || isType(b, derivedFrom: a) != false
    }
}
