internal import EDM

/// Doc comments of generated declarations, composed from the metadata. Text of the metadata cannot leave the comment.
enum DocComment {
    /// Returns the lines of a comment.
    ///
    /// - Parameters:
    ///   - summary: Markdown, already valid in a comment.
    ///   - annotations: The annotations that contain descriptions.
    ///   - notes: Paragraphs after the descriptions, also valid in a comment.
    static func lines(
        _ summary: String, _ annotations: [Annotation] = [], notes: [String] = [], indentation: Int = 0
    ) -> [String] {
        let margin = String(repeating: " ", count: indentation) + "///"
        let paragraphs = [summary] + descriptions(annotations) + notes
        let wrapped = paragraphs.map { wrap($0, margin) }
        return Array(wrapped.joined(separator: [margin]))
    }

    /// Returns a paragraph about a parameter; nil if the metadata does not describe it.
    static func parameter(_ name: String, _ annotations: [Annotation]) -> String? {
        let texts = descriptions(annotations)
        return texts.isEmpty ? nil : "- Parameter \(name): \(texts.joined(separator: " "))"
    }

    /// Returns the descriptions of the element without duplicates, short texts first.
    private static func descriptions(_ annotations: [Annotation]) -> [String] {
        var texts: [String] = []
        for term in terms {
            for annotation in annotations where annotation.term == term {
                if let text = annotation.value.map(plain), !text.isEmpty, !texts.contains(text) { texts.append(text) }
            }
        }
        for annotation in annotations where annotation.term == "Documentation" {
            for element in annotation.expression where ["Summary", "LongDescription"].contains(element.name) {
                let text = plain(element.text)
                if !text.isEmpty, !texts.contains(text) { texts.append(text) }
            }
        }
        return texts
    }

    private static let terms = [
        "Org.OData.Core.V1.Description", "sap:label", "com.sap.vocabularies.Common.v1.Label", "sap:quickinfo",
        "com.sap.vocabularies.Common.v1.QuickInfo", "Org.OData.Core.V1.LongDescription",
    ]

    /// Returns the text as one paragraph, without the Markdown syntax for links and code.
    private static func plain(_ text: String) -> String {
        let line = SwiftText.comment(text).split(separator: " ").joined(separator: " ")
        return line.map { "\\`<".contains($0) ? "\\\($0)" : "\($0)" }.joined().replacing("](", with: "] (")
    }

    private static func wrap(_ text: String, _ margin: String) -> [String] {
        var lines: [String] = []
        var line = margin
        for word in text.split(separator: " ") {
            if line.count + 1 + word.count > Layout.width, line != margin {
                lines.append(line)
                line = margin
            }
            line += " " + word
        }
        return lines + [line]
    }

    /// Returns the constraints of a property in words: `, key, at most 20 characters`.
    static func constraints(_ property: Property, isKey: Bool) -> String {
        var rules: [String] = []
        if isKey { rules.append("key") }
        if !isKey, !property.isNullable, !property.isCollection { rules.append("not null") }
        if let length = property.facets.maxLength, length != Int.max {
            rules.append("at most \(length) \(property.type.primitive == .binary ? "bytes" : "characters")")
        }
        if says("Org.OData.Core.V1.Computed", property.annotations) { rules.append("computed by the service") }
        if says("Org.OData.Core.V1.Immutable", property.annotations) { rules.append("immutable after creation") }
        if let value = property.facets.defaultValue { rules.append("default `\(code(value))`") }
        return rules.map { ", " + $0 }.joined()
    }

    /// Returns whether a Boolean term is true. A term without a value is true.
    private static func says(_ term: String, _ annotations: [Annotation]) -> Bool {
        annotations.contains { $0.term == term && $0.expression.isEmpty && $0.value != "false" }
    }

    /// Returns a name of the metadata for use between backticks.
    static func code(_ name: String) -> String { SwiftText.comment(name).replacing("`", with: "'") }

    static func typeName(_ type: TypeReference) -> String {
        code(type.isCollection ? "Collection(\(type.name))" : type.name)
    }
}
