import Foundation
import Testing

/// The documentation of the public functions, initializers and properties that throw.
@Suite struct ThrowsDocumentationTests {
    @Test func `every public declaration that throws names its errors`() throws {
        let all = try PackageSources.swiftFiles("Sources").sorted().flatMap { file in
            PublicDeclaration.all(in: try PackageSources.text(file)).filter(\.isThrowing)
                .map { (file: file, declaration: $0) }
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
        let found = PublicDeclaration.all(in: text).filter(\.isThrowing)
        #expect(found.map(\.name) == ["one", "init", "five", "six", "ten"])
        #expect(found.map(\.line) == [3, 6, 11, 14, 18])
        #expect(found.map(\.isRequirement) == [false, false, false, false, true])
        #expect(found.map(\.namesErrors) == [true, false, false, false, false])
        #expect(found.map(\.comment.count) == [1, 0, 1, 0, 0])
    }
}
