internal import EDM

/// The Swift names of the types that a document declares, and the Swift spelling of type references.
struct TypeNames {
    private var names: [String: String] = [:]
    /// The namespace of the first type with each name, by the name in lowercase.
    private var owners: [String: String] = [:]
    private let prefix: String
    private let chosen: ChosenNames

    init(prefix: String, chosen: ChosenNames) {
        self.prefix = prefix
        self.chosen = chosen
    }

    /// All assigned names.
    var all: Set<String> { Set(names.values) }

    /// The Swift name of the type with the qualified name; nil if it has none.
    subscript(type: String) -> String? { names[type] }

    /// Assigns a Swift name to a type. If a type of another namespace has the same name already, the namespace precedes
    /// the name, independently of types that are added later.
    ///
    /// If the result is still in use, it receives a number. A name that an annotation chose is used unchanged.
    mutating func claim(_ type: String, as plain: String, in scope: inout NameScope) throws(ProxyError) {
        let namespace = type.split(separator: ".").dropLast()
        let owner = owners[plain.lowercased()]
        let isShared = owner.map { $0 != namespace.joined(separator: ".") } ?? false
        let qualified = isShared ? SwiftName.ofType(String(namespace.last ?? "")) + plain : plain
        if owner == nil { owners[plain.lowercased()] = namespace.joined(separator: ".") }
        names[type] = try chosen.claimClass(of: type, otherwise: prefix + qualified, in: &scope)
    }

    /// Returns the class of an entity type; nil if the type is in a document that was not read.
    func entityClass(_ type: String) -> String? { type == "Edm.EntityType" ? "EntityValue" : names[type] }

    /// Returns the Swift type of structural values; nil for streams, which are not values.
    ///
    /// - Parameter withoutAliases: Whether to return the underlying type for the alias of a type definition, because
    ///   Swift compares underlying types.
    func value(_ reference: TypeReference, withoutAliases: Bool = false) -> String? {
        if reference.isCollection {
            return value(reference.item, withoutAliases: withoutAliases).map { "[\($0)]" }
        }
        switch reference.kind {
        case .enumeration(let name): return names[name] ?? "String"
        case .complex(let name): return names[name] ?? "ComplexValue"
        case .typeDefinition(let name, let underlying):
            return SwiftText.type(underlying).map { withoutAliases ? $0 : names[name] ?? $0 }
        case .primitive(let primitive): return SwiftText.type(primitive)
        case .entity, .unresolved: return "Value"
        }
    }
}
