internal import EDM

/// The types of values.
extension SourceStyle {
    /// Returns the file with the struct of a complex type.
    func complexType(_ complex: ServicePlan.Complex) -> GeneratedFile {
        let (type, name) = (complex.type, SwiftName.escaped(complex.name))
        var notes = type.isOpen ? ["Values of this type may have additional properties: `value[\"Name\"]`."] : []
        if let base = type.baseType { notes.append("It derives from `\(DocComment.code(base))`.") }
        let kind = type.isAbstract ? "abstract complex type" : "complex type"
        var lines = DocComment.lines("The \(kind) `\(DocComment.code(type.name))`.", type.annotations, notes: notes)
        lines.append("nonisolated \(access)struct \(name): TypedComplexValue {")
        for member in complex.members { lines += declaration(of: member, in: name, type) + [""] }
        lines += Layout.call(
            "\(access)static let complexType = \(metadata).complexType(", [SwiftText.literal(type.name)]
        ).lines(indentation: 4)
        lines += [
            "    \(access)static var embeddedMetadata: EmbeddedMetadata { \(metadata) }", "",
            "    \(access)var complexValue: ComplexValue", "",
            "    \(access)init(complexValue: ComplexValue) { self.complexValue = complexValue }",
        ]
        for member in complex.members { lines += accessor(of: member, in: name, isOpen: false) }
        return file(complex.name, lines + ["}"])
    }

    /// Returns the file with the Swift enumeration of an enumeration type, or with the struct if other values than its
    /// members are possible.
    func enumeration(_ enumeration: ServicePlan.Enumeration) -> GeneratedFile {
        let (type, name) = (enumeration.type, SwiftName.escaped(enumeration.name))
        let kind = type.isFlags ? "flag enumeration" : "enumeration type"
        var lines = DocComment.lines("The \(kind) `\(DocComment.code(type.name))`.", type.annotations)
        let declaration =
            switch enumeration.form {
            case .closed: "enum \(name): String, ClosedEnumeration {"
            case .open: "struct \(name): OpenEnumeration {"
            case .flags: "struct \(name): FlagsEnumeration {"
            case .openFlags: "struct \(name): OpenFlagsEnumeration {"
            }
        lines.append("nonisolated \(access)\(declaration)")
        for (member, swift) in enumeration.members {
            lines += DocComment.lines(
                "`\(DocComment.code(member.name))`, \(member.value).", member.annotations, indentation: 4)
            let text = SwiftText.literal(member.name)
            let swift = SwiftName.escaped(swift)
            switch enumeration.form {
            case .closed: lines.append("    case \(swift) = \(text)")
            case .open, .openFlags: lines.append("    \(access)static let \(swift) = Self(rawValue: \(text))")
            case .flags where member.value == 0: lines.append("    \(access)static let \(swift): Self = []")
            case .flags:
                lines.append("    \(access)static let \(swift) = Self(rawValue: \(Self.literal(member.value)))")
            }
        }
        if !enumeration.members.isEmpty { lines.append("") }
        lines += Layout.call(
            "\(access)static let enumerationType = \(metadata).enumerationType(", [SwiftText.literal(type.name)]
        ).lines(indentation: 4)
        if let raw = enumeration.form.storedType {
            lines += [
                "", "    \(access)let rawValue: \(raw)", "",
                "    \(access)init(rawValue: \(raw)) { self.rawValue = rawValue }",
            ]
        }
        return file(enumeration.name, lines + ["}"])
    }

    /// Returns the literal of a number. More than six digits are grouped.
    private static func literal(_ number: Int64) -> String {
        let digits = String(number.magnitude)
        guard digits.count > 6 else { return String(number) }
        var groups = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { groups += "_" }
            groups.append(digit)
        }
        return (number < 0 ? "-" : "") + groups
    }

    /// Returns the file with the alias of a type definition.
    func definition(_ definition: ServicePlan.Definition) -> GeneratedFile {
        let type = definition.definition
        let isOfTidelog = !["String", "Bool", "Int", "Float", "Double", "[UInt8]"].contains(definition.underlying)
        return file(
            definition.name,
            DocComment.lines(
                "The type definition `\(DocComment.code(type.name))` of `\(type.underlyingType.rawValue)`.",
                type.annotations)
                + ["\(access)typealias \(SwiftName.escaped(definition.name)) = \(definition.underlying)"],
            showsTidelog: isOfTidelog)
    }
}

extension ServicePlan.Enumeration.EnumerationForm {
    /// The type that the struct stores; nil for a Swift enumeration.
    fileprivate var storedType: String? {
        switch self {
        case .closed: nil
        case .open, .openFlags: "String"
        case .flags: "Int64"
        }
    }
}
