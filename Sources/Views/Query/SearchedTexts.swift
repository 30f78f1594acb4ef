import EDM
import ODataQuery

/// The texts of entities that `$search` considers: strings, including those in complex values and collections. With
/// `$select`, only those of the selected properties, and in an open type always those of dynamic properties.
struct SearchedTexts {
    private let type: EntityType
    /// The properties that contain text, by name.
    let properties: [Property]

    init(_ type: EntityType, _ select: [SelectItem], _ model: EntityDataModel) {
        self.type = type
        var selected: Set<String>? = select.isEmpty ? nil : []
        for item in select {
            switch item.path.first {
            case .name(let name): selected?.insert(name)
            case .star(namespace: nil): selected = nil
            default: break
            }
            if selected == nil { break }
        }
        properties = type.properties.filter { property in
            Self.holdsText(property.type, model, depth: 0) && selected?.contains(property.name) ?? true
        }
    }

    /// Whether there are no texts to search, so that `$search` has no effect.
    var isEmpty: Bool { properties.isEmpty && !type.isOpen }

    /// Whether the texts of dynamic properties are searched.
    var isOpen: Bool { type.isOpen }

    func matches(_ search: SearchExpression, _ values: PropertyValues) -> Bool {
        if isEmpty { return true }
        let searched = values.filter { name, _ in
            properties.contains { $0.name == name } || type.isOpen && type.findProperty(name) == nil
        }
        return search.matches(searched.flatMap { Self.texts(of: $0.value) })
    }

    static func texts(of value: Value) -> [String] {
        switch value {
        case .string(let text): [text]
        case .complex(let complex): complex.properties.flatMap { texts(of: $0.value) }
        case .collection(let items): items.flatMap(texts(of:))
        default: []
        }
    }

    static func holdsText(_ type: TypeReference, _ model: EntityDataModel, depth: Int) -> Bool {
        switch type.kind {
        case .primitive(let primitive), .typeDefinition(_, let primitive): primitive == .string
        case .complex(let name):
            depth < 8
                && model.findComplexType(name)?.properties.contains {
                    holdsText($0.type, model, depth: depth + 1)
                } ?? false
        default: false
        }
    }
}
