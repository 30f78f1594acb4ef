/// A short XML document that is not metadata: the error message of a V2 service.
///
/// Read with the bounds of metadata documents: a DOCTYPE is refused, nothing is fetched, and depth and size are
/// limited.
package struct XMLMessage: Sendable {
    /// The content of an element: its text, or its child elements.
    package indirect enum ElementContent: Sendable {
        case text(String)
        case elements([(name: String, content: ElementContent)])
    }

    /// The namespace of the root; `nil` if it has none.
    package let namespace: String?
    package let content: ElementContent

    /// Reads a document whose root has the given local name. Returns `nil` for any other input, whether it is XML or
    /// not.
    package init?(_ bytes: [UInt8], root name: String) {
        var limits = CSDLReader.Limits()
        limits.bytes = 1 << 20
        limits.depth = 64
        limits.elements = 2_000
        let parser = MarkupParser(
            limits: limits,
            refusal: { $0.name == name ? nil : CSDLError(.notMetadata, "The root element has another name.", at: $0) })
        guard let root = try? parser.parse(bytes) else { return nil }
        namespace = root.namespace
        content = Self.content(of: root)
    }

    /// Returns the content. The recursion depth is bounded by the depth of the document.
    private static func content(of element: MarkupElement) -> ElementContent {
        guard !element.children.isEmpty else { return .text(String(element.text.trimmed)) }
        return .elements(element.children.map { ($0.name, content(of: $0)) })
    }
}
