internal import EDM

/// The Swift names of the types that a document declares, and how a type reference is written in Swift.
struct TypeNames {
    private var names: [String: String] = [:]
    /// The namespace of the type that has a name, by that name in small letters.
    private var owners: [String: String] = [:]
    private let prefix: String
    private let chosen: ChosenNames

    init(prefix: String, chosen: ChosenNames) {
        self.prefix = prefix
        self.chosen = chosen
    }

    /// All of them.
    var all: Set<String> { Set(names.values) }

    /// The Swift name of the type of that qualified name; nil where it gets none.
    subscript(type: String) -> String? { names[type] }

    /// Gives a type its name: its own, or where a type of another namespace has that already, with its namespace before it.
    /// That does not change when something is added later. What is still taken gets a number.
    /// A name that an annotation chose is taken as it is.
    mutating func claim(_ type: String, as plain: String, in scope: inout NameScope) throws(ProxyError) {
        let namespace = type.split(separator: ".").dropLast()
        let owner = owners[plain.lowercased()]
        let isShared = owner.map { $0 != namespace.joined(separator: ".") } ?? false
        let qualified = isShared ? SwiftName.ofType(String(namespace.last ?? "")) + plain : plain
        if owner == nil { owners[plain.lowercased()] = namespace.joined(separator: ".") }
        names[type] = try chosen.claimClass(of: type, otherwise: prefix + qualified, in: &scope)
    }

    /// The class of an entity type; nil where it is in a document that was not read.
    func entityClass(_ type: String) -> String? { type == "Edm.EntityType" ? "EntityValue" : names[type] }

    /// The Swift type of structural values; nil for streams, which are none.
    /// - Parameter withoutAliases: gives what the alias of a type definition stands for, which is how Swift compares types.
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
