/// A call of the API as written in the table. `Cars(1)` is an entity of the service, and `Cars(c)`, with a letter, is
/// an entity that a call of the cell creates.
indirect enum Call: Sendable {
    case createLink(from: Place, to: Name)
    case updateLink(from: Place, to: Name)
    case deleteLink(from: Place, to: Name?)
    case replaceLinks(from: Place, with: [Name])
    case createEntity(Draft)
    case createRelatedEntity(Draft, in: Place)
    case updateEntity(Draft)
    case deleteEntity(Name)
    case changeSet([Call])
    /// Several separate calls, one after the other.
    case calls([Call])

    /// The name of an entity, such as `Cars(1)`.
    struct Name: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        let set: String
        /// The text in the parentheses: a key, or a letter for a new entity.
        let label: String

        init(stringLiteral text: String) {
            let parts = text.split(whereSeparator: { $0 == "(" || $0 == ")" })
            precondition(parts.count == 2, "\(text) names no entity.")
            set = String(parts[0])
            label = String(parts[1])
        }

        var isNew: Bool { Int(label) == nil }
        var description: String { "\(set)(\(label))" }
    }

    /// The navigation property of an entity, such as `Cars(1)/Owner`.
    struct Place: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        let entity: Name
        let navigation: String

        init(stringLiteral text: String) {
            let parts = text.split(separator: "/")
            precondition(parts.count == 2, "\(text) names no navigation property of an entity.")
            entity = Name(stringLiteral: String(parts[0]))
            navigation = String(parts[1])
        }

        var description: String { "\(entity)/\(navigation)" }
    }

    /// An entity object as the app prepares it for `createEntity` or `updateEntity`.
    struct Draft: Sendable {
        let entity: Name
        /// The values of properties. Nil sets null.
        let values: KeyValuePairs<String, Int?>
        /// The entities that are bound with `bindEntity`.
        let bound: KeyValuePairs<String, Name>
        /// The related new entities, set with `setEntityValue` or, for a collection, `setEntityList`.
        let related: KeyValuePairs<String, [Draft]>
    }
}

extension Call {
    static func createLink(_ from: Place, _ to: Name) -> Call { .createLink(from: from, to: to) }
    static func updateLink(_ from: Place, _ to: Name) -> Call { .updateLink(from: from, to: to) }
    static func deleteLink(_ from: Place, _ to: Name? = nil) -> Call { .deleteLink(from: from, to: to) }

    static func replaceLinks(_ from: Place, _ targets: [Name]) -> Call { .replaceLinks(from: from, with: targets) }

    static func create(
        _ entity: Name, _ values: KeyValuePairs<String, Int?> = [:], bind: KeyValuePairs<String, Name> = [:],
        set related: KeyValuePairs<String, [Draft]> = [:]
    ) -> Call {
        .createEntity(Draft(entity: entity, values: values, bound: bind, related: related))
    }

    static func createRelated(
        _ entity: Name, in place: Place, bind: KeyValuePairs<String, Name> = [:]
    ) -> Call {
        .createRelatedEntity(Draft(entity: entity, values: [:], bound: bind, related: [:]), in: place)
    }

    static func update(
        _ entity: Name, _ values: KeyValuePairs<String, Int?> = [:], bind: KeyValuePairs<String, Name> = [:],
        set related: KeyValuePairs<String, [Draft]> = [:]
    ) -> Call {
        .updateEntity(Draft(entity: entity, values: values, bound: bind, related: related))
    }

    static func delete(_ entity: Name) -> Call { .deleteEntity(entity) }

    /// Every entity that the call refers to.
    var names: [Name] {
        switch self {
        case .createLink(let from, let to), .updateLink(let from, let to): [from.entity, to]
        case .deleteLink(let from, let to): [from.entity] + (to.map { [$0] } ?? [])
        case .replaceLinks(let from, let targets): [from.entity] + targets
        case .createEntity(let draft), .updateEntity(let draft): draft.names
        case .createRelatedEntity(let draft, let place): draft.names + [place.entity]
        case .deleteEntity(let name): [name]
        case .changeSet(let calls), .calls(let calls): calls.flatMap(\.names)
        }
    }
}

extension Call.Draft: ExpressibleByStringLiteral {
    /// Creates a draft of a new entity with only its label, or of an existing entity without changes.
    init(stringLiteral text: String) {
        self.init(entity: Call.Name(stringLiteral: text), values: [:], bound: [:], related: [:])
    }

    var names: [Call.Name] { [entity] + bound.map(\.value) + related.flatMap { $0.value.flatMap(\.names) } }
}

/// The description of the call in the document.
extension Call: CustomStringConvertible {
    var description: String {
        switch self {
        case .createLink(let from, let to): "createLink \(from) → \(to)"
        case .updateLink(let from, let to): "updateLink \(from) → \(to)"
        case .deleteLink(let from, let to): "deleteLink \(from)" + (to.map { " → \($0)" } ?? ", `to` left out")
        case .replaceLinks(let from, let targets):
            "replaceLinks \(from) with "
                + (targets.isEmpty ? "nothing" : targets.map(\.description).joined(separator: ", "))
        case .createEntity(let draft): "createEntity \(draft)"
        case .createRelatedEntity(let draft, let place): "createRelatedEntity \(draft) in \(place)"
        case .updateEntity(let draft): "updateEntity \(draft)"
        case .deleteEntity(let name): "deleteEntity \(name)"
        case .changeSet(let calls): "change set { " + calls.map(\.description).joined(separator: "; ") + " }"
        case .calls(let calls): calls.map(\.description).joined(separator: ", then ")
        }
    }
}

extension Call.Draft: CustomStringConvertible {
    var description: String {
        let values = values.map { "\($0.key) = \($0.value.map(String.init) ?? "null")" }
        let bound = bound.map { "\($0.key) bound to \($0.value)" }
        let related = related.map { "\($0.key) set to " + $0.value.map(\.description).joined(separator: ", ") }
        let parts = values + bound + related
        return parts.isEmpty ? "\(entity)" : "\(entity) with " + parts.joined(separator: ", ")
    }
}
