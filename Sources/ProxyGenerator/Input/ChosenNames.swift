/// The Swift names that annotations choose: `ClassName` of types and of the container, `PropertyName` of properties.
///
/// A chosen name is used unchanged, without prefix and number. If an element without annotation would have the same
/// name, the generation fails with an error at the annotation, because the annotation must denote exactly one class.
package struct ChosenNames: Sendable, Hashable {
    struct Choice: Sendable, Hashable {
        let name: String
        let place: InputLocation
    }

    /// The chosen names of entity, complex and enumeration types, by qualified name.
    private(set) var classes: [String: Choice] = [:]
    /// The chosen names of properties, by the qualified name of the declaring type and the name of the property.
    private(set) var properties: [String: [String: Choice]] = [:]
    /// The chosen names of containers, by qualified name.
    private(set) var services: [String: Choice] = [:]
    /// The types that have a chosen class name, by that name in lowercase, because files have the names of classes.
    private var owners: [String: String] = [:]

    /// Creates an instance without chosen names.
    package init() {}

    mutating func choose(class choice: Choice, of type: String) {
        classes[type] = choice
        owners[choice.name.lowercased()] = type
    }

    mutating func choose(property choice: Choice, _ property: String, of type: String) {
        properties[type, default: [:]][property] = choice
    }

    mutating func choose(service choice: Choice, of container: String) { services[container] = choice }

    /// Returns the class name of a type: the chosen name, or else the given default.
    func claimClass(
        of type: String, otherwise name: String, in scope: inout NameScope
    ) throws(ProxyError) -> String {
        guard let choice = classes[type] else {
            if let owner = owners[name.lowercased()], let choice = classes[owner] ?? services[owner] {
                throw .annotation(
                    choice.place,
                    "The class name '\(choice.name)' of \(owner) is also the name of \(type), which has no annotation.")
            }
            return scope.claim(name)
        }
        guard scope.claim(choice.name) == choice.name else {
            throw .annotation(choice.place, "The class name '\(choice.name)' of \(type) is already used.")
        }
        return choice.name
    }

    /// Records that the service uses the name that its container chose.
    mutating func takeService(_ name: String) {
        guard let (container, _) = services.first(where: { $0.value.name == name }) else { return }
        owners[name.lowercased()] = owners[name.lowercased()] ?? container
    }

    /// Returns the error for a service name that is in use; nil if no annotation chose the name.
    func refusal(ofService name: String) -> ProxyError? {
        guard let (container, choice) = services.first(where: { $0.value.name == name }) else { return nil }
        return .annotation(choice.place, "The class name '\(name)' of \(container) is already used.")
    }

    /// Returns the Swift name of a property that the type declares: the chosen name, or else the given default.
    ///
    /// - Parameter bases: The base types, whose properties the type inherits.
    func claimMember(
        _ property: String, of type: String, _ bases: [String], otherwise name: String, in scope: inout NameScope
    ) throws(ProxyError) -> String {
        guard let choice = properties[type]?[property] else {
            for owner in [type] + bases {
                let taken = properties[owner]?.sorted { $0.key < $1.key }.first { $1.name == name }
                guard let (other, choice) = taken else { continue }
                throw .annotation(
                    choice.place,
                    "The name '\(name)' of \(owner)/\(other) is also the name of \(type)/\(property), which has no annotation."
                )
            }
            return scope.claim(name)
        }
        guard scope.claim(choice.name) == choice.name else {
            throw .annotation(choice.place, "The name '\(choice.name)' of \(type)/\(property) is already used.")
        }
        return choice.name
    }
}

/// A position in a document.
package struct InputLocation: Sendable, Hashable, CustomStringConvertible {
    /// The name of the document; nil if there is only one.
    package let document: String?
    package let line: Int
    package let column: Int

    package var description: String { "\(document.map { "\($0): " } ?? "")line \(line), column \(column)" }
}
