/// Returns the beginning of a text in quotation marks, for messages about input of unbounded length.
package func clipped(_ text: String) -> String {
    let head = text.unicodeScalars.prefix(60)
    return "\"" + String(String.UnicodeScalarView(head)) + (head.endIndex < text.endIndex ? "…\"" : "\"")
}
