import Testing

/// Declarations of the standard library that older systems lack. The compiler for Linux does not check them.
@Suite struct AvailabilityTests {
    /// Returns the numbers of the lines with a span that is not that of a slice.
    private static func unavailableSpans(in text: String) -> [Int] {
        let access = /(\w+|[\])])\??\.(?:span|mutableSpan|utf8Span)\b/
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            line.matches(of: access).allSatisfy { $0.1 == "slice" } ? nil : index + 1
        }
    }

    @Test func `a span is that of a slice, because that of an array needs macOS 26`() throws {
        for file in try PackageSources.swiftFiles("Sources") {
            let lines = Self.unavailableSpans(in: try PackageSources.text(file))
            #expect(lines.isEmpty, "\(file):\(lines)")
        }
    }

    @Test func `the reader finds spans of other values`() {
        let text = """
            let span = slice.span
            let rows = rows.span
            let text = name.utf8.span
            let last = rows[0].span
            let none = span.count
            """
        #expect(Self.unavailableSpans(in: text) == [2, 3, 4])
    }
}
