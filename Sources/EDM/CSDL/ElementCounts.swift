/// Counts taken from the text of a document, for facts that the resolved model does not contain: inherited flags,
/// merged elements, the spelling of names.
struct ElementCounts: Sendable {
    var annotations = 0
    var navigationPropertyBindings = 0
    var onDelete = 0
    var keys = 0
    var propertyRefs = 0
    var referentialConstraints = 0
    var abstractTypes = 0
    var openTypes = 0
    var hasStream = 0
    var containerExtends = 0
    var propertyRefAliases = 0
    var flagsEnums = 0
    var boundActions = 0
    var boundFunctions = 0
    var propertyWithoutType = 0
    var sapAnnotations = 0
    var mAttributes = 0
    var unresolvedTypeNames = 0
    var unresolvedTypeRefs = 0
    var typeRefsViaAlias = 0
    var typeNamesDifferingOnlyByCase = 0

    /// Creates zero counts, for models that were not read from a document.
    init() {}
}

extension ElementCounts {
    init(documents: [MetadataDocument], index: SchemaIndex) {
        self.init()
        var unresolved: Set<String> = []
        // An explicit stack, so that the depth of the document does not matter.
        var open = documents.map(\.root)
        while let element = open.popLast() {
            open += element.children
            count(attributesOf: element)
            guard element.vocabulary == .edm else { continue }
            count(element)
            for attribute in Self.typeAttributes[element.name] ?? [] {
                if let text = element[attribute] { count(reference: text, at: element, index, &unresolved) }
            }
        }
        unresolvedTypeNames = unresolved.count
        typeNamesDifferingOnlyByCase = index.types.count - Set(index.types.keys.map { $0.lowercased() }).count
    }

    private mutating func count(_ element: MarkupElement) {
        switch element.name {
        case "Annotation": annotations += 1
        case "NavigationPropertyBinding": navigationPropertyBindings += 1
        case "OnDelete": onDelete += 1
        case "Key": keys += 1
        case "ReferentialConstraint": referentialConstraints += 1
        case "PropertyRef":
            propertyRefs += 1
            if element["Alias"] != nil { propertyRefAliases += 1 }
        case "EntityContainer": if element["Extends"] != nil { containerExtends += 1 }
        // Compared as written: `IsBound="True"` is accepted elsewhere, but is not an XML Boolean.
        case "Action": if element["IsBound"] == "true" { boundActions += 1 }
        case "Function": if element["IsBound"] == "true" { boundFunctions += 1 }
        case "Property": if element["Type"] == nil { propertyWithoutType += 1 }
        default: break
        }
    }

    private mutating func count(attributesOf element: MarkupElement) {
        for attribute in element.attributes {
            switch attribute.namespace {
            case MarkupNamespace.sap?: sapAnnotations += 1
            case MarkupNamespace.metadata?: mAttributes += 1
            default: break
            }
            guard element.vocabulary == .edm else { continue }
            switch attribute.name {
            case "Abstract" where Bool(csdl: attribute.value) == true: abstractTypes += 1
            case "OpenType" where Bool(csdl: attribute.value) == true: openTypes += 1
            case "HasStream" where Bool(csdl: attribute.value) == true: hasStream += 1
            case "IsFlags" where Bool(csdl: attribute.value) == true: flagsEnums += 1
            default: break
            }
        }
    }

    /// Counts a type name as written. Names without namespace in V2 are not references.
    private mutating func count(
        reference text: String, at element: MarkupElement, _ index: SchemaIndex, _ unresolved: inout Set<String>
    ) {
        var name = text.trimmed
        if name.hasPrefix("Collection("), name.hasSuffix(")") { name = name.dropFirst("Collection(".count).dropLast() }
        guard let dot = name.lastIndex(of: "."), !name.hasPrefix("Edm.") else { return }
        if index.isOwnAlias(String(name[..<dot]), at: element) { typeRefsViaAlias += 1 }
        if index.types[index.qualified(name, at: element)] == nil {
            unresolvedTypeRefs += 1
            unresolved.insert(String(name))
        }
    }

    private static let typeAttributes: [String: [String]] = [
        "Property": ["Type"], "NavigationProperty": ["Type"], "Parameter": ["Type"], "ReturnType": ["Type"],
        "Term": ["Type"], "End": ["Type"], "Singleton": ["Type"], "TypeDefinition": ["UnderlyingType"],
        "EnumType": ["UnderlyingType"], "EntityType": ["BaseType"], "ComplexType": ["BaseType"],
        "EntitySet": ["EntityType"], "FunctionImport": ["ReturnType"], "Function": ["ReturnType"],
    ]
}
