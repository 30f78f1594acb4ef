/// Converts OData names to Swift names. The result is always an identifier.
enum SwiftName {
    /// Returns the name with an initial uppercase letter: `airport` → `Airport`.
    static func ofType(_ name: String) -> String {
        let name = identifier(name)
        guard let first = name.first else { return name }
        return first.uppercased() + name.dropFirst()
    }

    /// Returns the name with an initial lowercase letter. A leading acronym is lowercased completely: `CustomerID` →
    /// `customerID`, `ID` → `id`, `IDCard` → `idCard`.
    static func ofMember(_ name: String) -> String {
        let name = identifier(name)
        let underscores = name.prefix { $0 == "_" }
        let rest = name.dropFirst(underscores.count)
        let capitals = rest.prefix(while: \.isUppercase).count
        let startsWord = capitals > 1 && rest.dropFirst(capitals).first?.isLowercase == true
        let lowered = startsWord ? capitals - 1 : capitals
        return underscores + rest.prefix(lowered).lowercased() + rest.dropFirst(lowered)
    }

    /// Returns the singular of regular English plurals: `Customers` → `Customer`. Other names are returned unchanged.
    static func singular(_ name: String) -> String {
        func has(_ endings: String...) -> Bool { endings.contains { name.hasSuffix($0) } }
        if has("ss", "us", "is", "series", "Series", "species", "Species") { return name }
        if has("ies"), name.count > 4 { return name.dropLast(3) + "y" }
        if has("sses", "shes", "ches", "xes", "zes") { return String(name.dropLast(2)) }
        return has("s") && name.count > 1 ? String(name.dropLast()) : name
    }

    /// Returns the spelling of the name where it is declared and used.
    static func escaped(_ name: String) -> String { ReservedNames.keywords.contains(name) ? "`\(name)`" : name }

    /// Returns the spelling of a parameter's name in a declaration. Few words are keywords before a colon, and the
    /// compiler warns about unnecessary backticks.
    static func parameter(_ name: String) -> String { ["inout", "let", "var"].contains(name) ? "`\(name)`" : name }

    /// Returns the spelling of the name as the label of an argument.
    static func label(_ name: String) -> String { name == "inout" ? "`inout`" : name }

    /// Returns whether the name can be chosen for a class.
    static func isIdentifier(_ name: String) -> Bool {
        !name.isEmpty && identifier(name) == name && !ReservedNames.keywords.contains(name)
    }

    /// Returns a valid identifier. Letters, digits, marks and connectors are kept, and other characters become
    /// underscores. An identifier does not begin with a digit or mark, and is not a single underscore.
    private static func identifier(_ name: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber,
                .connectorPunctuation:
                result.append(scalar)
            case .decimalNumber, .nonspacingMark, .spacingMark:
                if result.isEmpty { result.append("_") }
                result.append(scalar)
            default: result.append("_")
            }
        }
        return result.isEmpty || result.elementsEqual(["_"]) ? "__" : String(result)
    }
}
