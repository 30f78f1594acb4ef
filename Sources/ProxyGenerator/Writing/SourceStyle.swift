internal import EDM

/// What all files of a generation share: how they begin, how long their lines are, and who may see what they declare.
///
/// Types are `nonisolated`, as those are that they derive from: a module may make the main actor its default.
struct SourceStyle {
    let plan: ServicePlan
    let isInternal: Bool

    /// Before classes and what they override, which apps may derive from.
    var open: String { isInternal ? "" : "open " }
    /// Before everything else.
    var access: String { isInternal ? "" : "public " }
    var metadata: String { "\(SwiftName.escaped(plan.metadataName)).embedded" }

    /// All files, the service's first.
    func files(metadata document: String, references: [String]) -> [GeneratedFile] {
        [service(), metadata(document, references: references)] + plan.entities.map(entityClass)
            + plan.complexTypes.map(complexType)
            + plan.enumerations.map(enumeration) + plan.definitions.map(definition)
    }

    /// - Parameter showsTidelog: whether a public declaration mentions a type of Tidelog. Where none does the compiler warns
    ///   of a public import.
    func file(_ name: String, _ lines: [String], showsTidelog: Bool = true) -> GeneratedFile {
        let head = [
            "\(GeneratedFile.mark) for \(plan.serviceName) from the metadata of \(SwiftText.comment(plan.namespace)). It is overwritten each time.",
            "",
            "\(showsTidelog ? access : "")import Tidelog", "",
        ]
        return GeneratedFile(
            name: Self.fileName(name) + ".swift", text: (head + lines).joined(separator: "\n") + "\n")
    }

    /// File systems take 255 bytes, and CSDL names of 128 characters. A name that is cut keeps its beginning, and a number
    /// made of all of it.
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

    /// The metadata itself.
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
