/// A property value that an instance of a type cannot have.
package enum PropertyMisfit: Sendable {
    /// The type has no such property, and instances cannot have an undeclared one with this name.
    case undeclared(String)
    /// The property is a navigation property, which has no value.
    case navigation(String)
    /// The value does not conform to the property; see ``Value/mismatch(with:facets:isNullable:in:)``.
    case value(String, Value, reason: String)
}

extension PropertyValues {
    /// Returns the first value that an instance of the type cannot have, or `nil` if it can have all of them.
    package func misfit(in type: StructuredType, _ model: EntityDataModel) -> PropertyMisfit? {
        var place = 0
        for (name, value) in self {
            guard let property = type.findProperty(name, expectedAt: &place) else {
                if type.isOpen(to: name) { continue }
                return .undeclared(name)
            }
            guard !property.isNavigation else { return .navigation(name) }
            if let reason = value.mismatch(with: property, in: model) {
                return .value(name, value, reason: reason)
            }
        }
        return nil
    }
}
