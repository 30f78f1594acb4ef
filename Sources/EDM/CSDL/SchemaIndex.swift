/// What documents declare, by qualified name, before anything is resolved.
///
/// Names are checked here: each schema's declarations are unique, and aliases lead to one namespace. Aliases are a
/// document's own, so a name that was written down is looked up with the element that it stands at.
final class SchemaIndex {
    struct TypeDeclaration {
        enum Kind { case entity, complex, enumeration, definition }

        let kind: Kind
        let name: String
        let element: MarkupElement
        /// Of structured types: the qualified name.
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
    /// For each document the namespaces that it declares and does not also include: names that it has in them must resolve.
    private let ownNamespaces: [Set<String>]
    /// Types in the order of the documents.
    private(set) var declarations: [TypeDeclaration] = []
    private(set) var types: [String: TypeDeclaration] = [:]
    /// Entity and complex types, each after its base type.
    private(set) var structuredTypes: [TypeDeclaration] = []
    private(set) var associations: [String: Association] = [:]
    /// What was found wrong and could be lived with.
    private(set) var defects: [CSDLError] = []
    private var noted: Set<CSDLError> = []
    private let isStrict: Bool
    private let budget: Int
    private var spent = 0
    /// The qualified names of actions and functions.
    private(set) var operations: Set<String> = []

    /// For each document every namespace that a name may be written with, and what it stands for.
    private let namespaces: [[String: String]]
    private var members: [String: [String: MarkupElement]] = [:]
    /// For each document its types by their name without namespace, the first of each name.
    private var localNames: [[String: String]]
    private let ownAliases: [Set<String>]
    /// For each document what its type names stand for.
    private var resolved: [[String: TypeReference.Kind]]

    /// - Parameter documents: the position of each is that of its elements' origin.
    init(_ documents: [MetadataDocument], limits: CSDLReader.Limits, isStrict: Bool) throws(CSDLError) {
        self.isStrict = isStrict
        budget = limits.properties
        localNames = documents.map { _ in [:] }
        resolved = documents.map { _ in [:] }
        var names: [Names] = []
        for document in documents { names.append(try Names(document)) }
        sources = names.flatMap(\.sources)
        namespaces = names.map(\.namespaces)
        ownNamespaces = names.map(\.own)
        ownAliases = names.map { Set($0.sources.compactMap { $0.alias == $0.namespace ? nil : $0.alias }) }
        for source in sources {
            try checkNames(of: source)
            try declareTypesAndOperations(of: source)
        }
        try nameBaseTypes()
        structuredTypes = try InheritanceOrder(index: self, limit: limits.baseTypes).order()
        for declaration in structuredTypes { try declareMembers(of: declaration) }
        for source in sources { try declareAssociations(of: source) }
    }
    // MARK: Defects

    /// Notes what breaks the standard but leaves a usable model. Known services and published documents do so; a strict
    /// reader refuses them.
    func tolerate(_ code: CSDLError.Code, _ message: String, at element: MarkupElement) throws(CSDLError) {
        let defect = CSDLError(code, message, at: element)
        if isStrict { throw defect }
        if defects.count < Self.mostDefects, noted.insert(defect).inserted { defects.append(defect) }
    }

    /// A document of a million defects is not worth a million messages.
    private static let mostDefects = 1_000

    // MARK: Limits

    /// Counts what is inherited or bound: its number is not bounded by the length of the document.
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

    /// The name, as it is written at the element, with its alias replaced by the namespace.
    func qualified(_ name: some StringProtocol, at element: MarkupElement) -> String {
        guard let dot = name.lastIndex(of: ".") else { return String(name) }
        let prefix = String(name[..<dot])
        guard let namespace = namespaces[element.origin.position][prefix], namespace != prefix else {
            return String(name)
        }
        return namespace + name[dot...]
    }

    /// Whether the prefix is the alias of one of the own schemas of the element's document.
    func isOwnAlias(_ prefix: String, at element: MarkupElement) -> Bool {
        ownAliases[element.origin.position].contains(prefix)
    }

    /// Whether the qualified name is in a namespace that the element's document declares and does not include.
    func isOwn(_ name: String, at element: MarkupElement) -> Bool {
        guard let dot = name.lastIndex(of: ".") else { return false }
        return ownNamespaces[element.origin.position].contains(String(name[..<dot]))
    }

    // MARK: Declaring

    private func checkNames(of source: Source) throws(CSDLError) {
        var open = [source.element]
        while let element = open.popLast() {
            open += element.children.reversed()
            guard element.vocabulary == .edm, let name = element["Name"], !name.isSimpleIdentifier else { continue }
            try tolerate(
                .invalidName, "The name \"\(name)\" of the \(element.name) is no identifier.", at: element)
        }
    }

    private func declareTypesAndOperations(of source: Source) throws(CSDLError) {
        for element in source.element.children where element.vocabulary == .edm {
            let kind: TypeDeclaration.Kind
            switch element.name {
            case "EntityType": kind = .entity
            case "ComplexType": kind = .complex
            case "EnumType": kind = .enumeration
            case "TypeDefinition": kind = .definition
            case "Action", "Function":
                operations.insert("\(source.namespace).\(try element.declaredName())")
                continue
            default: continue
            }
            let localName = try element.declaredName()
            let name = "\(source.namespace).\(localName)"
            let position = element.origin.position
            if localNames[position][localName] == nil { localNames[position][localName] = name }
            if let first = types[name] {
                throw CSDLError(
                    .duplicateName, "The type \"\(name)\" is declared already, in \(first.element.place).",
                    at: element)
            }
            let declaration = TypeDeclaration(kind: kind, name: name, element: element, base: nil)
            types[name] = declaration
            declarations.append(declaration)
        }
    }

    /// When all types are known: a base type may be written without its namespace, as other types may.
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
                throw CSDLError(
                    .unresolvedName, "The base type \"\(text)\" of \"\(declarations[place].name)\" is not declared.",
                    at: element)
            }
            guard !base.hasPrefix("Edm.") else {
                try tolerate(
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
            let name = try element.declaredName()
            if let first = table.updateValue(element, forKey: name) {
                throw CSDLError(
                    .duplicateName,
                    "\"\(declaration.name)\" has a property \"\(name)\" already, in line \(first.line).", at: element)
            }
        }
        members[declaration.name] = table
    }

    private func declareAssociations(of source: Source) throws(CSDLError) {
        for element in source.element.children("Association") {
            let association = try AssociationReader(index: self).read(element, in: source)
            if associations.updateValue(association, forKey: association.name) != nil {
                throw CSDLError(
                    .duplicateName, "The association \"\(association.name)\" is declared twice.", at: element)
            }
        }
    }

    // MARK: Types

    /// What a type name written at `element` stands for, with or without `Collection(…)`.
    func type(_ text: String, at element: MarkupElement) throws(CSDLError) -> TypeReference {
        var name = text.trimmed
        var isCollection = false
        if name.hasPrefix("Collection("), name.hasSuffix(")") {
            isCollection = true
            name = String(name.dropFirst("Collection(".count).dropLast()).trimmed
        }
        let key = String(name)
        let position = element.origin.position
        if let known = resolved[position][key] { return TypeReference(known, isCollection: isCollection) }
        let kind = try kind(of: key, at: element)
        resolved[position][key] = kind
        return TypeReference(kind, isCollection: isCollection)
    }

    private func kind(of text: String, at element: MarkupElement) throws(CSDLError) -> TypeReference.Kind {
        if let builtIn = BuiltInType.kind(text) { return builtIn }
        guard let name = qualifiedTypeName(text, at: element) else {
            throw CSDLError(.invalidName, "\"\(text)\" at the \(element.label) is no name of a type.", at: element)
        }
        if name.hasPrefix("Edm.") {
            try tolerate(.unresolvedName, "There is no primitive type \"\(name)\".", at: element)
        }
        guard let declaration = types[name] else {
            guard !isOwn(name, at: element) else {
                throw CSDLError(.unresolvedName, "The type \"\(name)\" is not declared.", at: element)
            }
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

    /// V2 documents are seen to leave out their own namespace. Some have one that is no identifier: what is declared in
    /// it is theirs nevertheless.
    private func qualifiedTypeName(_ text: String, at element: MarkupElement) -> String? {
        let position = element.origin.position
        guard let dot = text.lastIndex(of: ".") else {
            return localNames[position][text]
        }
        let isName = text.isQualifiedName || namespaces[position][String(text[..<dot])] != nil
        return isName ? qualified(text, at: element) : nil
    }

    /// The primitive type beneath a type definition.
    func underlyingType(of definition: MarkupElement) throws(CSDLError) -> PrimitiveType {
        guard let text = definition["UnderlyingType"] else {
            try tolerate(.missing, "The \(definition.label) has no attribute UnderlyingType.", at: definition)
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
        /// The answer is in a document that was not read, or the type is open.
        case beyond
    }

    /// The property of that name of a type or its base types.
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

    /// Walks a path of properties, casts and annotations, which is written at the element, from a type on, as far as the
    /// documents know.
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

    /// The qualified name of the type of a property, or of the target of a navigation property.
    private func memberType(of element: MarkupElement) -> String? {
        if let relationship = element["Relationship"], let role = element["ToRole"] {
            return associations[qualified(relationship.trimmed, at: element)]?.end(role)?.type
        }
        guard let text = element["Type"] else { return nil }
        return (try? type(text, at: element))?.name
    }

    /// Whether `type` is `base` or derives from it; nil where its base types lead out of the document.
    func isType(_ type: String, derivedFrom base: String) -> Bool? {
        var current = type
        while true {
            if current == base { return true }
            guard let declaration = types[current] else { return nil }
            guard let next = declaration.base else { return false }
            current = next
        }
    }

    /// Whether an entity can be of both types: one derives from the other, as far as the document knows.
    func areCompatible(_ a: String, _ b: String) -> Bool {
        if BuiltInType.isAbstract(a) || BuiltInType.isAbstract(b) { return true }
        return isType(a, derivedFrom: b) != false || isType(b, derivedFrom: a) != false
    }
}
