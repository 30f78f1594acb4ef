/// Reads enumeration types with their implicit values.
struct EnumerationReader {
    let annotations: AnnotationIndex

    func read(_ declaration: SchemaIndex.TypeDeclaration) throws(CSDLError) -> EnumerationType {
        let element = declaration.element
        let underlying = try underlyingType(element)
        var members: [EnumerationType.Member] = []
        var names: Set<String> = []
        for member in element.children("Member") {
            let name = try member.declaredName()
            guard names.insert(name).inserted else {
                throw CSDLError(.duplicateName, "\"\(declaration.name)\" has two members \"\(name)\".", at: member)
            }
            let value = try value(of: member, after: members.last?.value)
            guard Self.range(of: underlying).contains(value) else {
                throw CSDLError(
                    .invalidValue, "The value \(value) of the \(member.label) does not fit \(underlying.rawValue).",
                    at: member)
            }
            members.append(
                EnumerationType.Member(
                    name: name, value: value,
                    annotations: try annotations.annotations(of: member, "\(declaration.name)/\(name)")))
        }
        return EnumerationType(
            name: declaration.name, underlyingType: underlying, isFlags: try element.boolean("IsFlags", default: false),
            members: members, annotations: try annotations.annotations(of: element, declaration.name))
    }

    private func underlyingType(_ element: MarkupElement) throws(CSDLError) -> PrimitiveType {
        guard let text = element["UnderlyingType"] else { return .int32 }
        guard case .primitive(let type)? = BuiltInType.kind(String(text.trimmed)), type.isInteger else {
            throw CSDLError(
                .wrongKind, "The underlying type \"\(text)\" of the \(element.label) is not an integer type.",
                at: element)
        }
        return type
    }

    /// Returns the value of a member. A member without a value has its predecessor's value plus 1, the first one 0.
    private func value(of member: MarkupElement, after previous: Int64?) throws(CSDLError) -> Int64 {
        guard let text = member["Value"] else {
            let (next, isTooLarge) = previous?.addingReportingOverflow(1) ?? (0, false)
            guard !isTooLarge else {
                throw CSDLError(
                    .invalidValue, "The values of the underlying type are used up before the \(member.label).",
                    at: member)
            }
            return next
        }
        guard let value = Int64(text.trimmed) else {
            throw CSDLError(
                .invalidValue, "The value \"\(text)\" of the \(member.label) is not an integer.", at: member)
        }
        return value
    }

    private static func range(of type: PrimitiveType) -> ClosedRange<Int64> {
        switch type {
        case .byte: 0...255
        case .sbyte: -128...127
        case .int16: Int64(Int16.min)...Int64(Int16.max)
        case .int32: Int64(Int32.min)...Int64(Int32.max)
        default: Int64.min...Int64.max
        }
    }
}
