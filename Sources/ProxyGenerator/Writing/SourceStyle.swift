internal import EDM

/// The common properties of all files of a generation: their header, their line length, and the access level of their
/// declarations.
///
/// Types are `nonisolated`, like the types from which they derive, because a module may make the main actor its
/// default.
struct SourceStyle {
    let plan: ServicePlan
    let isInternal: Bool

    /// The modifier of classes and overridden members, from which apps may derive.
    var open: String { isInternal ? "" : "open " }
    /// The modifier of all other declarations.
    var access: String { isInternal ? "" : "public " }
    var metadata: String { "\(SwiftName.escaped(plan.metadataName)).embedded" }

    /// Returns all files, beginning with that of the service.
    func files(metadata document: String, references: [String]) -> [GeneratedFile] {
        [service(), metadata(document, references: references)] + plan.entities.map(entityClass)
            + plan.complexTypes.map(complexType)
            + plan.enumerations.map(enumeration) + plan.definitions.map(definition)
    }

    /// Returns a file with the header and the given lines.
    ///
    /// - Parameter showsTidelog: Whether a public declaration mentions a type of Tidelog. If none does, the compiler
    ///   warns about a public import.
    func file(_ name: String, _ lines: [String], showsTidelog: Bool = true) -> GeneratedFile {
        let head = [
            "\(GeneratedFile.mark) for \(plan.serviceName) from the metadata of \(SwiftText.comment(plan.namespace)). Do not edit: the next run overwrites it.",
            "",
            "\(showsTidelog ? access : "")import Tidelog", "",
        ]
        return GeneratedFile(
            name: Self.fileName(name) + ".swift", text: (head + lines).joined(separator: "\n") + "\n")
    }

    /// Returns the name of a file without its extension. File systems allow 255 bytes, and CSDL allows names of 128
    /// characters. A name that is too long is reduced to its beginning and a hash of the entire name.
    private static func fileName(_ name: String) -> String {
        let limit = 200
        guard name.utf8.count > limit else { return name }
        var (start, length) = ("", 0)
        for character in name {
            length += character.utf8.count
            guard length <= limit else { break }
            start.append(character)
        }
        // FNV-1a.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return "\(start)-\(String(hash, radix: 16))"
    }

    /// Returns the file with the embedded metadata.
    func metadata(_ document: String, references: [String] = []) -> GeneratedFile {
        file(
            plan.metadataName,
            [
                "/// The metadata of ``\(plan.serviceName)`` as it was when these sources were generated.",
                "nonisolated \(access)enum \(SwiftName.escaped(plan.metadataName)) {",
                "    \(access)static let embedded = EmbeddedMetadata(",
                SwiftText.block(document, indentation: 8)
                    + (references.isEmpty ? ")" : ",\n        references: ["),
            ]
                + references.map { SwiftText.block($0, indentation: 12) + "," }
                + (references.isEmpty ? [] : ["        ])"]) + [
                    "}"
                ])
    }
}
