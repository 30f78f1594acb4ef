import Foundation
import Testing

/// The documentation of the public functions, initializers and properties that throw.
@Suite struct ThrowsDocumentationTests {
    @Test func `every public declaration that throws names its errors`() throws {
        let all = try PackageSources.swiftFiles("Sources").sorted().flatMap { file in
            ThrowingDeclaration.all(in: try PackageSources.text(file)).map { (file: file, declaration: $0) }
        }
        #expect(all.count > 100)
        // A witness without a comment has the comment of the requirement.
        let requirements = Set(
            all.map(\.declaration).filter { $0.isRequirement && $0.namesErrors }.map(\.name))
        for (file, declaration) in all where !declaration.namesErrors {
            if declaration.comment.isEmpty, requirements.contains(declaration.name) { continue }
            Issue.record("\(file):\(declaration.line): the comment of \(declaration.name) has no '- Throws:'")
        }
    }

    @Test func `the reader finds public declarations that throw`() {
        let text = """
            /// - Throws: `notFound`.
            @discardableResult
            public func one(_ body: () throws -> Void) async throws(E) -> Int { 1 }
            public func two(_ body: () throws -> Void) rethrows {}
            package func three() throws {}
            public init(
                four: Int
            ) throws {
            }
            /// The fifth.
            public var five: Int {
                get async throws(E) { 5 }
            }
            public var six: Int { get throws { 6 } }
            public var seven: @Sendable () throws -> Int
            public static func eight() -> Int { try! nine() }
            public protocol P {
                func ten(
                    _ text: String
                ) async throws(E) -> Int
                func eleven()
            }
            extension Q {
                func twelve() throws {}
            }
            """
        let found = ThrowingDeclaration.all(in: text)
        #expect(found.map(\.name) == ["one", "init", "five", "six", "ten"])
        #expect(found.map(\.line) == [3, 6, 11, 14, 18])
        #expect(found.map(\.isRequirement) == [false, false, false, false, true])
        #expect(found.map(\.namesErrors) == [true, false, false, false, false])
        #expect(found.map(\.comment.count) == [1, 0, 1, 0, 0])
    }
}

/// A public declaration that throws.
private struct ThrowingDeclaration {
    let name: String
    /// The line of its first modifier, from 1.
    let line: Int
    /// The lines of its documentation comment.
    let comment: [Substring]
    /// Whether it is a requirement of a public protocol.
    let isRequirement: Bool

    var namesErrors: Bool { comment.contains { $0.contains("- Throws:") } }

    /// Returns the declarations of a source.
    static func all(in text: String) -> [ThrowingDeclaration] {
        let declaration =
            /^\s*(?:@\w+(?:\([^)]*\))? )*((?:[a-z]+(?:\([a-z]+\))? )*)(func|var|init|subscript)\b(?: `?(\w+))?/
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var found: [ThrowingDeclaration] = []
        var isProtocol = false
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("}") { isProtocol = false }
            if line.hasPrefix("public protocol") { isProtocol = true }
            guard let match = line.firstMatch(of: declaration) else { continue }
            let modifiers = match.1.split(separator: " ")
            guard isProtocol || modifiers.contains("public") || modifiers.contains("open"),
                match.2 == "var" ? throwsWhenRead(lines[index...]) : throwsWhenCalled(lines[index...])
            else { continue }
            found.append(
                ThrowingDeclaration(
                    name: String(match.3 ?? match.2), line: index + 1,
                    comment: comment(before: index, of: lines), isRequirement: isProtocol))
        }
        return found
    }

    /// Returns the documentation comment of the declaration in a line, which attributes may separate from it.
    private static func comment(before index: Int, of lines: [Substring]) -> [Substring] {
        lines[..<index].reversed()
            .drop { $0.drop { $0 == " " }.hasPrefix("@") }
            .prefix { $0.drop { $0 == " " }.hasPrefix("///") }
    }

    /// Returns whether the getter of a property, in its first line or the next one, throws.
    private static func throwsWhenRead(_ lines: ArraySlice<Substring>) -> Bool {
        lines.prefix(2).contains { $0.contains(/(?:^\s*|\{ )get (?:async )?throws\b/) }
    }

    /// Returns whether `throws` is outside of the parentheses of the declaration with which the lines begin.
    private static func throwsWhenCalled(_ lines: ArraySlice<Substring>) -> Bool {
        var depth = 0
        var signature = ""
        for line in lines {
            // Inside of parentheses, or the first line.
            guard depth > 0 || signature.isEmpty else { break }
            for character in line {
                if character == "(" { depth += 1 }
                if depth == 0, character == "{" { return signature.contains(/\bthrows\b/) }
                if depth == 0 { signature.append(character) }
                if character == ")" { depth -= 1 }
            }
        }
        return signature.contains(/\bthrows\b/)
    }
}
