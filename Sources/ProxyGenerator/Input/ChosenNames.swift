/// The Swift names that annotations choose: `ClassName` of types and of the container, `PropertyName` of properties.
///
/// A name that was chosen is taken as it is, without prefix and number. What has no chosen name must not come to the same
/// one: that is an error at the annotation, since whoever reads the annotation expects one class of that name.
public struct ChosenNames: Sendable, Hashable {
    struct Choice: Sendable, Hashable {
        let name: String
        let place: InputPlace
    }

    /// By the qualified name of an entity, complex or enumeration type.
    private(set) var classes: [String: Choice] = [:]
    /// By the qualified name of the declaring type, then by the property's.
    private(set) var properties: [String: [String: Choice]] = [:]
    /// By the qualified name of the container.
    private(set) var services: [String: Choice] = [:]
    /// The types that chose a class name, by that name in small letters: files are named like classes.
    private var owners: [String: String] = [:]

    /// No name is chosen.
    public init() {}

    mutating func choose(class choice: Choice, of type: String) {
        classes[type] = choice
        owners[choice.name.lowercased()] = type
    }

    mutating func choose(property choice: Choice, _ property: String, of type: String) {
        properties[type, default: [:]][property] = choice
    }

    mutating func choose(service choice: Choice, of container: String) { services[container] = choice }

    /// The class name of a type: the chosen one, or else the one that it would have.
    func claimClass(
        of type: String, otherwise name: String, in scope: inout NameScope
    ) throws(ProxyError) -> String {
        guard let choice = classes[type] else {
            if let owner = owners[name.lowercased()], let choice = classes[owner] ?? services[owner] {
                throw .annotation(
                    choice.place,
                    "The class name '\(choice.name)' of \(owner) is also the one of \(type), which has no annotation.")
            }
            return scope.claim(name)
        }
        guard scope.claim(choice.name) == choice.name else {
            throw .annotation(choice.place, "The class name '\(choice.name)' of \(type) is in use otherwise.")
        }
        return choice.name
    }

    /// The service has the name that its container chose.
    mutating func takeService(_ name: String) {
        guard let (container, _) = services.first(where: { $0.value.name == name }) else { return }
        owners[name.lowercased()] = owners[name.lowercased()] ?? container
    }

    /// Why the name of a service cannot be taken; nil where no annotation chose it.
    func refusal(ofService name: String) -> ProxyError? {
        guard let (container, choice) = services.first(where: { $0.value.name == name }) else { return nil }
        return .annotation(choice.place, "The class name '\(name)' of \(container) is in use otherwise.")
    }

    /// The Swift name of a property that the type declares: the chosen one, or else the one that it would have.
    ///
    /// - Parameter bases: the base types, whose properties the type has as well.
    func claimMember(
        _ property: String, of type: String, _ bases: [String], otherwise name: String, in scope: inout NameScope
    ) throws(ProxyError) -> String {
        guard let choice = properties[type]?[property] else {
            for owner in [type] + bases {
                let taken = properties[owner]?.sorted { $0.key < $1.key }.first { $1.name == name }
                guard let (other, choice) = taken else { continue }
                throw .annotation(
                    choice.place,
                    "The name '\(name)' of \(owner)/\(other) is also the one of \(type)/\(property), which has no annotation."
                )
            }
            return scope.claim(name)
        }
        guard scope.claim(choice.name) == choice.name else {
            throw .annotation(choice.place, "The name '\(choice.name)' of \(type)/\(property) is in use otherwise.")
        }
        return choice.name
    }
}

/// Where in a document something stands.
public struct InputPlace: Sendable, Hashable, CustomStringConvertible {
    /// nil where there is one document and everybody knows which.
    public let document: String?
    public let line: Int
    public let column: Int

    public var description: String { "\(document.map { "\($0): " } ?? "")line \(line), column \(column)" }
}
