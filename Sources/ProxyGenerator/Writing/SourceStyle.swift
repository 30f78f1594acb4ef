internal import EDM

/// What all files of a generation share: how they begin, how long their lines are, and who may see what they declare.
///
/// Types are `nonisolated`, as those are that they derive from: a module may make the main actor its default.
struct SourceStyle {
    let plan: ServicePlan
    let isInternal: Bool

    /// The longest line that can be broken.
    static let width = 120

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
        return GeneratedFile(name: name + ".swift", text: (head + lines).joined(separator: "\n") + "\n")
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

    /// A list between what opens and what closes it: in one line where that is short enough, else on a line of its own, else
    /// on a line for each item. What follows the list begins a line of its own in the last two cases where it opens a body.
    static func list(_ head: String, _ items: [String], _ tail: String) -> [String] {
        let one = head + items.joined(separator: ", ") + tail
        guard one.count > width, !items.isEmpty else { return [one] }
        let indentation = String(repeating: " ", count: head.prefix { $0 == " " }.count)
        let margin = indentation + "    "
        let opensBody = tail.hasSuffix("{")
        let end = opensBody ? "" : tail
        let inner = margin + items.joined(separator: ", ") + end
        var lines = [head]
        if inner.count <= width {
            lines.append(inner)
        } else {
            lines += items.dropLast().map { margin + $0 + "," } + [margin + (items.last ?? "") + end]
        }
        return opensBody ? lines + [indentation + tail] : lines
    }
}
