/// Reads XML documents other than metadata, such as payloads in Atom.
///
/// Read with the bounds of metadata documents: a DOCTYPE is refused, so there are no entities except the five of XML;
/// nothing is fetched; depth and size are limited. In contrast to metadata, white space is content.
package enum MarkupDocument {
    /// Returns the root of a document.
    ///
    /// - Parameters:
    ///   - size: The maximum number of bytes.
    ///   - elements: The maximum number of elements.
    package static func parse(_ bytes: [UInt8], size: Int, elements: Int) throws(CSDLError) -> MarkupElement {
        var limits = CSDLReader.Limits()
        limits.bytes = min(size, limits.bytes)
        limits.elements = elements
        return try MarkupParser(limits: limits, keepsWhiteSpace: true, refusal: { _ in nil }).parse(bytes)
    }
}

extension MarkupElement {
    /// Returns the value of the attribute with that name and namespace. Nil is the namespace of unprefixed attributes.
    package func attribute(_ name: String, in namespace: String? = nil) -> String? {
        for attribute in attributes where attribute.name == name && attribute.namespace == namespace {
            return attribute.value
        }
        return nil
    }

    /// The text without white space at both ends.
    package var trimmedText: String { String(text.trimmed) }
}
