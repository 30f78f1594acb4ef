/// A warning about a facet of a property that is valid but probably not intended by the service.
public struct FacetWarning: Sendable, Hashable, CustomStringConvertible {
    /// The property, with its type: `Shop.Order/Amount`.
    public let property: String
    /// The reason, as one sentence.
    public let message: String

    public var description: String { "\(property): \(message)" }
}

extension EntityDataModel {
    /// The questionable facets of all properties, in the order of the types.
    ///
    /// An unspecified `Scale` means 0 by the standard (CSDL 4.01, 7.2.4), which services often do not intend. The
    /// reader therefore does not enforce it. A key string without `MaxLength` is reported because the length of its
    /// URLs cannot be checked.
    public var facetWarnings: [FacetWarning] {
        var warnings: [FacetWarning] = []
        for schema in schemas {
            for type in schema.entityTypes + schema.complexTypes {
                let keys = Set(type.keyProperties.map(\.name))
                for property in type.properties where property.declaringType == type.name {
                    for message in Self.warnings(property, isKey: keys.contains(property.name)) {
                        warnings.append(FacetWarning(property: property.description, message: message))
                    }
                }
            }
        }
        return warnings
    }

    private static func warnings(_ property: Property, isKey: Bool) -> [String] {
        let (facets, type) = (property.facets, property.type.primitive)
        var messages: [String] = []
        if type == .decimal {
            if facets.scale == nil {
                messages.append("Edm.Decimal has no Scale, which means 0 by the standard.")
            }
            if facets.precision == nil { messages.append("Edm.Decimal has no Precision.") }
            if case .fixed(let scale)? = facets.scale, let precision = facets.precision, scale > precision {
                messages.append("The Scale \(scale) is greater than the Precision \(precision).")
            }
        } else if facets.scale != nil {
            messages.append("Scale applies to Edm.Decimal only.")
        }
        if type == .string, isKey, facets.maxLength == nil {
            messages.append("The string is part of the key and has no MaxLength.")
        }
        if facets.maxLength != nil, ![.string, .binary, .stream].contains(type) {
            messages.append("MaxLength applies to strings, binary values and streams only.")
        }
        return messages
    }
}
