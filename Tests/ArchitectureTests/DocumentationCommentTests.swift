import Testing

/// The documentation comments of the declarations that apps see.
@Suite struct DocumentationCommentTests {
    /// Returns whether a declaration is an override, or a witness of a protocol of the standard library, which need no
    /// comment of their own.
    private static func isExempt(_ declaration: PublicDeclaration) -> Bool {
        let witness =
            /(?:[a-z]+ )*(?:func (?:==|<) .*-> Bool\b|func hash\(into |func encode\(to |init\(from decoder|func make(?:Async)?Iterator\(|func next\(|(?:var|let) (?:description|debugDescription): String|var customMirror: Mirror|typealias (?:Element|Iterator|AsyncIterator) )/
        return declaration.head.contains("override ") || declaration.head.prefixMatch(of: witness) != nil
    }

    @Test func `every public declaration is documented`() throws {
        // Only modules that apps import have public declarations: `PublicSurfaceTests`.
        let all = try PackageSources.swiftFiles("Sources").sorted().flatMap { file in
            PublicDeclaration.all(in: try PackageSources.text(file)).map { (file: file, declaration: $0) }
        }
        #expect(all.count > 3_000)
        for (file, declaration) in all where declaration.comment.isEmpty && !Self.isExempt(declaration) {
            Issue.record("\(file):\(declaration.line): \(declaration.name) has no documentation comment")
        }
    }

    @Test func `the reader finds public declarations without a comment, except for witnesses`() {
        let text = """
            /// A type.
            @frozen
            public struct One: Hashable {
                public let two: Int
                /// The third.
                public var three = \"""
                    public let four = 4
                    \"""
                public static func == (a: One, b: One) -> Bool { true }
                public static func > (a: One, b: One) -> Bool { true }
                public func hash(into hasher: inout Hasher) {}
                public func hash() -> Int { 0 }
                public override var five: Int { 5 }
                // A comment for developers.
                @discardableResult public static func six() -> Int { 6 }
                public init?(seven: Int) {
                    let eight = 8
                }
                package var nine: Int
                struct Ten {
                    public typealias Element = Int
                    public typealias Index = Int
                }
            }
            public enum Eleven {
                case twelve, thirteen
                /// The fourteenth.
                case fourteen
                func fifteen() {
                    switch self {
                    case .twelve: return
                    }
                }
            }
            enum Sixteen { case seventeen }
            public protocol Eighteen {
                associatedtype Nineteen
                var twenty: Int { get }
            }
            extension Eighteen {
                public subscript(index: Int) -> Int { 0 }
                func last() {}
            }
            """
        let missing = PublicDeclaration.all(in: text).filter { $0.comment.isEmpty && !Self.isExempt($0) }
        #expect(
            missing.map(\.name) == [
                "two", ">", "hash", "six", "init", "Index", "Eleven", "twelve", "Eighteen", "Nineteen", "twenty",
                "subscript",
            ])
        #expect(missing.map(\.line) == [4, 10, 12, 15, 16, 22, 25, 26, 36, 37, 38, 41])
    }
}
