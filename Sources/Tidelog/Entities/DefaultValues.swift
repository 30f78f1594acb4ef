import EDM

/// The default values of a new entity or complex value, if the app wants defaults.
struct DefaultValues {
    /// Provides enumeration and complex types. If it is `nil`, their properties have no default.
    let model: EntityDataModel?

    func of(_ type: some StructuredType) -> PropertyValues { values(of: type, within: []) }

    /// - Parameter owners: the complex types that enclose the value. A type that contains itself would recurse
    ///   forever.
    private func values(of type: some StructuredType, within owners: Set<String>) -> PropertyValues {
        var values = PropertyValues()
        for property in type.properties {
            if let value = declared(property) {
                values[property.name] = value
            } else if !property.isNullable, let value = natural(property.type, owners) {
                values[property.name] = value
            }
        }
        return values
    }

    /// Returns the default in the metadata, or `nil` if it is not a member of the enumeration.
    private func declared(_ property: Property) -> Value? {
        guard case .enumeration(let name) = property.type.kind, let type = model?.enumerationType(named: name),
            case .enumeration(let text)? = property.declaredDefault
        else { return property.declaredDefault }
        let members = EnumerationType.parts(of: text)
        let areKnown = members.allSatisfy { Int64($0) != nil || type.member(named: String($0)) != nil }
        return areKnown && (type.isFlags || members.count == 1) ? .enumeration(text) : nil
    }

    /// Returns the value that a typed property of the kind reads as if it is unset.
    private func natural(_ type: TypeReference, _ owners: Set<String>) -> Value? {
        if type.isCollection { return .collection([]) }
        switch type.kind {
        case .primitive(let primitive), .typeDefinition(_, let primitive): return Self.natural(primitive)
        case .enumeration(let name): return model?.enumerationType(named: name).map(Self.natural)
        case .complex(let name):
            guard let type = model?.findComplexType(name), !type.isAbstract, !owners.contains(name) else { return nil }
            return .complex(ComplexValue(properties: values(of: type, within: owners.union([name]))))
        case .entity, .unresolved: return nil
        }
    }

    private static func natural(_ type: EnumerationType) -> Value {
        .enumeration((type.member(value: 0) ?? (type.isFlags ? nil : type.members.first))?.name ?? "0")
    }

    private static func natural(_ type: PrimitiveType) -> Value? {
        switch type {
        case .boolean: Bool.propertyDefault.propertyValue
        case .byte, .sbyte, .int16, .int32, .int64: Int.propertyDefault.propertyValue
        case .single: Float.propertyDefault.propertyValue
        case .double: Double.propertyDefault.propertyValue
        case .decimal: DecimalValue.propertyDefault.propertyValue
        case .string: String.propertyDefault.propertyValue
        case .guid: GuidValue.propertyDefault.propertyValue
        case .date: LocalDate.propertyDefault.propertyValue
        case .timeOfDay: LocalTime.propertyDefault.propertyValue
        case .dateTime: LocalDateTime.propertyDefault.propertyValue
        case .dateTimeOffset: GlobalDateTime.propertyDefault.propertyValue
        case .duration, .time: DayTimeDuration.propertyDefault.propertyValue
        case .binary: .binary([])
        default: nil
        }
    }
}
