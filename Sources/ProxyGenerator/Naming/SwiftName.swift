/// Swift names for OData names. Whatever the document has, what comes out is an identifier.
enum SwiftName {
    /// A name that begins with a capital: `airport` → `Airport`.
    static func ofType(_ name: String) -> String {
        let name = identifier(name)
        guard let first = name.first else { return name }
        return first.uppercased() + name.dropFirst()
    }

    /// A name that begins with a small letter, the whole of a leading acronym too: `CustomerID` → `customerID`, `ID` → `id`,
    /// `IDCard` → `idCard`.
    static func ofMember(_ name: String) -> String {
        let name = identifier(name)
        let underscores = name.prefix { $0 == "_" }
        let rest = name.dropFirst(underscores.count)
        let capitals = rest.prefix(while: \.isUppercase).count
        let startsWord = capitals > 1 && rest.dropFirst(capitals).first?.isLowercase == true
        let lowered = startsWord ? capitals - 1 : capitals
        return underscores + rest.prefix(lowered).lowercased() + rest.dropFirst(lowered)
    }

    /// One of many, for English plurals that follow the rules: `Customers` → `Customer`. Other names stay as they are.
    static func singular(_ name: String) -> String {
        func has(_ endings: String...) -> Bool { endings.contains { name.hasSuffix($0) } }
        if has("ss", "us", "is", "series", "Series", "species", "Species") { return name }
        if has("ies"), name.count > 4 { return name.dropLast(3) + "y" }
        if has("sses", "shes", "ches", "xes", "zes") { return String(name.dropLast(2)) }
        return has("s") && name.count > 1 ? String(name.dropLast()) : name
    }

    /// How the name is written where it is declared and used.
    static func escaped(_ name: String) -> String { ReservedNames.keywords.contains(name) ? "`\(name)`" : name }

    /// How a parameter of the name is declared. Before a colon few words mean something else, and the compiler warns of
    /// backticks that are not needed.
    static func parameter(_ name: String) -> String { ["inout", "let", "var"].contains(name) ? "`\(name)`" : name }

    /// How the name is written before an argument.
    static func label(_ name: String) -> String { name == "inout" ? "`inout`" : name }

    /// Whether a person may choose the name for a class.
    static func isIdentifier(_ name: String) -> Bool {
        !name.isEmpty && identifier(name) == name && !ReservedNames.keywords.contains(name)
    }

    /// Letters, digits, marks and connectors stay, everything else becomes an underscore. A digit or mark does not begin a
    /// name, and a single underscore is none.
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
