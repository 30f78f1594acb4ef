import Foundation
import Testing

/// The names of nested types, which appear in stack traces, logs and the API reference.
@Suite struct TypeNameTests {
    /// The number of types with a general name that are not public. It is only ever lowered.
    private static let limit = 9

    private struct Declaration: Hashable {
        let name: String
        let isPublic: Bool
    }

    /// Returns the declared types whose name has no meaning without the type around them.
    private static func generalNames(in text: String) -> [Declaration] {
        let declaration =
            /^\s*(?:@\w+(?:\([^)]*\))? )*((?:[a-z]+(?:\([a-z]+\))? )*)(?:struct|class|enum|actor|protocol|typealias) `?(Kind|State|Part|Form|Content|Place)\b/
        return text.split(separator: "\n").compactMap { line in
            guard let found = line.firstMatch(of: declaration) else { return nil }
            let modifiers = found.1.split(separator: " ")
            return Declaration(
                name: String(found.2), isPublic: modifiers.contains("public") || modifiers.contains("open"))
        }
    }

    private static func generalNames() throws -> [(file: String, declaration: Declaration)] {
        try PackageSources.swiftFiles("Sources").sorted().flatMap { file in
            generalNames(in: try PackageSources.text(file)).map { (file, $0) }
        }
    }

    @Test func `no public type has a general name`() throws {
        for (file, declaration) in try Self.generalNames() where declaration.isPublic {
            Issue.record("\(file) declares a public type \(declaration.name)")
        }
    }

    @Test func `the number of other types with a general name does not grow`() throws {
        let others = try Self.generalNames().filter { !$0.declaration.isPublic }
        #expect(others.count <= Self.limit, "\(others.map { "\($0.declaration.name) in \($0.file)" })")
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
        #expect(
            Self.generalNames(in: text) == [
                .init(name: "Kind", isPublic: true), .init(name: "State", isPublic: false),
                .init(name: "Part", isPublic: true), .init(name: "Form", isPublic: false),
                .init(name: "Place", isPublic: true),
            ])
    }
}
