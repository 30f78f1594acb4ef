extension MarkupElement {
    /// Returns the attribute, or throws if it is missing.
    func required(_ attribute: String) throws(CSDLError) -> String {
        guard let value = self[attribute] else {
            let name = attribute == "EntityType" ? "Type" : attribute
            let what = origin.isJSON ? "member $\(name)" : "attribute \(attribute)"
            throw CSDLError(.missing, "The \(label) has no \(what).", at: self)
        }
        return value
    }

    /// Returns the `Name` attribute, or throws if it is not usable in paths. ``SchemaIndex`` checks that it is an
    /// identifier.
    func declaredName() throws(CSDLError) -> String {
        let name = try required("Name")
        guard name.isUsableName else {
            throw CSDLError(
                .invalidName, "The name \"\(name)\" of the \(self.name) is not a valid identifier.", at: self)
        }
        return name
    }

    /// Returns the attribute as a Boolean. Some services write `True`; XML also allows `1` and `0`.
    func boolean(_ attribute: String, default fallback: Bool) throws(CSDLError) -> Bool {
        guard let text = self[attribute] else { return fallback }
        guard let value = Bool(csdl: text) else {
            throw CSDLError(.invalidValue, "\(attribute)=\"\(text)\" of the \(label) is not a Boolean.", at: self)
        }
        return value
    }

    /// Returns the attribute as a non-negative integer.
    func count(_ attribute: String) throws(CSDLError) -> Int? {
        guard let text = self[attribute] else { return nil }
        guard let value = Int(text.trimmed), value >= 0 else {
            throw CSDLError(
                .invalidValue, "\(attribute)=\"\(text)\" of the \(label) is not a nonnegative integer.", at: self)
        }
        return value
    }

    /// The location of the element, for messages about another element.
    var place: String { "line \(line)\(origin.name.map { " of \($0)" } ?? "")" }

    /// The kind and name of the element, for messages.
    var label: String {
        guard let name = self["Name"] else { return self.name }
        return "\(self.name) \"\(name)\""
    }
}

extension Bool {
    /// Parses `true` and `false` in any case, `1` and `0`.
    init?(csdl text: String) {
        switch text.trimmed.lowercased() {
        case "true", "1": self = true
        case "false", "0": self = false
        default: return nil
        }
    }
}

extension StringProtocol {
    /// Whether the text is a `SimpleIdentifier` of CSDL: letters, digits, marks and connectors, not beginning with a
    /// digit.
    var isSimpleIdentifier: Bool {
        guard let first = unicodeScalars.first, first.isIdentifierStart else { return false }
        return unicodeScalars.dropFirst().allSatisfy(\.isIdentifierPart)
    }

    /// Whether the text can be a path segment: not empty, and without characters that have a meaning in paths.
    var isUsableName: Bool { !isEmpty && !utf8.contains(where: \.separatesNames) }

    /// Whether the text is a qualified name: at least two identifiers separated by dots.
    var isQualifiedName: Bool {
        let parts = split(separator: ".", omittingEmptySubsequences: false)
        return parts.count > 1 && parts.allSatisfy { $0.isSimpleIdentifier }
    }
}

extension UInt8 {
    /// Whether the byte is white space or has a meaning in paths and types.
    fileprivate var separatesNames: Bool {
        self <= 0x20 || self == UInt8(ascii: "/") || self == UInt8(ascii: ".") || self == UInt8(ascii: "(")
            || self == UInt8(ascii: ")") || self == UInt8(ascii: ",") || self == UInt8(ascii: "@")
    }
}

extension Unicode.Scalar {
    fileprivate var isIdentifierStart: Bool {
        if isASCII { return ("a"..."z").contains(self) || ("A"..."Z").contains(self) || self == "_" }
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber:
            return true
        default: return false
        }
    }

    fileprivate var isIdentifierPart: Bool {
        if isASCII { return isIdentifierStart || ("0"..."9").contains(self) }
        switch properties.generalCategory {
        case .decimalNumber, .nonspacingMark, .spacingMark, .connectorPunctuation, .format: return true
        default: return isIdentifierStart
        }
    }
}
