import Foundation
import Testing

/// The names of nested types, which appear in stack traces, logs and the API reference.
@Suite struct TypeNameTests {
    /// Returns the declared types whose name has no meaning without the type around them.
    private static func generalNames(in text: String) -> [String] {
        let declaration =
            /^\s*(?:@\w+(?:\([^)]*\))? )*(?:[a-z]+(?:\([a-z]+\))? )*(?:struct|class|enum|actor|protocol|typealias) `?(Kind|State|Part|Form|Content|Place)\b/
        return text.split(separator: "\n").compactMap { line in
            line.firstMatch(of: declaration).map { String($0.1) }
        }
    }

    @Test func `no type has a general name`() throws {
        for file in try PackageSources.swiftFiles("Sources").sorted() {
            for name in Self.generalNames(in: try PackageSources.text(file)) {
                Issue.record("\(file) declares a type \(name)")
            }
        }
    }

    @Test func `the reader finds nested types by name, and nothing in comments`() {
        let text = """
            public struct One {
                public indirect enum Kind: Sendable {}
                package struct State {}
                private(set) var place = Place()
                nonisolated public final class `Part` {}
                typealias Form = Int
                // public enum Content {}
                public enum ContentKind {}
                @frozen public struct Place {}
            }
            """
        #expect(Self.generalNames(in: text) == ["Kind", "State", "Part", "Form", "Place"])
    }
}
