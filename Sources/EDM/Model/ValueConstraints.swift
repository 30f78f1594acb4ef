/// The constraints that annotations of the vocabulary Validation declare for the values of a property.
///
/// The annotations may be in a document of any version: services of V2 add them as elements of V4. They are advice for
/// an app's own checks and input fields. The store does not enforce them, because the service decides.
public struct ValueConstraints: Sendable, Hashable {
    /// The smallest value (`Validation.Minimum`).
    public var minimum: DecimalValue?
    /// The largest value (`Validation.Maximum`).
    public var maximum: DecimalValue?
    /// Whether ``minimum`` itself is excluded (`Validation.Exclusive`).
    public var excludesMinimum = false
    /// Whether ``maximum`` itself is excluded.
    public var excludesMaximum = false
    /// The regular expression of strings (`Validation.Pattern`).
    public var pattern: String?
    /// The only values, as written in the metadata (`Validation.AllowedValues`). Empty for no restriction.
    public var allowedValues: [String] = []

    init(_ annotations: [Annotation]) {
        for annotation in annotations where annotation.term.hasPrefix(Self.namespace) {
            let isExclusive = annotation.expression.contains { element in
                element.name == "Annotation" && element.attributes["Term"].map(Self.isExclusive) == true
                    && element.attributes["Bool"] != "false"
            }
            switch annotation.term.dropFirst(Self.namespace.count) {
            case "Minimum":
                minimum = annotation.value.flatMap { DecimalValue($0) }
                excludesMinimum = isExclusive
            case "Maximum":
                maximum = annotation.value.flatMap { DecimalValue($0) }
                excludesMaximum = isExclusive
            case "Pattern": pattern = annotation.value
            case "AllowedValues": allowedValues = Self.values(annotation.expression)
            default: break
            }
        }
    }

    private static let namespace = "Org.OData.Validation.V1."

    private static func isExclusive(_ term: String) -> Bool {
        term == namespace + "Exclusive" || term.hasSuffix(".Exclusive")
    }

    /// Returns the values of the records of a collection.
    private static func values(_ elements: [Annotation.Element]) -> [String] {
        elements.flatMap { element -> [String] in
            if element.name == "PropertyValue", element.attributes["Property"] == "Value" {
                let constants = ["String", "Int", "Decimal", "Float", "Bool", "Date", "EnumMember"]
                return constants.compactMap { element.attributes[$0] } + element.children.map(\.text)
            }
            return values(element.children)
        }
    }

    /// Returns whether a number is within the range. Null is.
    public func admits(_ value: Value) -> Bool {
        let number: DecimalValue
        switch value {
        case .integer(let integer): number = DecimalValue(integer)
        case .decimal(let decimal): number = decimal
        case .double(let double): number = DecimalValue(double)
        case .single(let single): number = DecimalValue(Double(single))
        case .string(let text), .enumeration(let text):
            return allowedValues.isEmpty || allowedValues.contains(text)
        default: return true
        }
        if let minimum, excludesMinimum ? number <= minimum : number < minimum { return false }
        if let maximum, excludesMaximum ? number >= maximum : number > maximum { return false }
        return true
    }
}

extension Property {
    /// The constraints that annotations declare for the values of the property.
    public var constraints: ValueConstraints { ValueConstraints(annotations) }
}
