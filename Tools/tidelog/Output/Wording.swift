/// Returns a count with its noun: `1 order`, `3 orders`.
func counted(_ count: some BinaryInteger, _ singular: String, _ plural: String) -> String {
    "\(count) \(count == 1 ? singular : plural)"
}

/// Returns text from other sources as one line: line ends and other control characters become visible escapes.
func oneLine(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F || isBidiControl($0) }) else {
        return text
    }
    var result = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\n": result += "\\n"
        case "\r": result += "\\r"
        case "\t": result += "\\t"
        case _ where scalar.value < 0x20 || scalar.value == 0x7F || isBidiControl(scalar):
            result += "\\u{\(String(scalar.value, radix: 16))}"
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result
}

/// Returns whether the character changes the direction of the following text, which can make a line misleading, or is a
/// control character of the second set, which terminals treat as the start of a command.
private func isBidiControl(_ scalar: Unicode.Scalar) -> Bool {
    (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        || (0x80...0x9F).contains(scalar.value)
}

/// Returns the number with one decimal.
func tenths(_ number: Double) -> String {
    guard number.isFinite, number >= 0, number < 1e12 else { return "-" }
    let tenths = Int((number * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
}
