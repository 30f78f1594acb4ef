import Testing

/// Reading the blocks of an article, and generating sources from them.
@Suite struct CodeBlockTests {
    private func blocks(_ text: String) -> [CodeBlock] { CodeBlock.blocks(in: text) }

    @Test func `a block has a language, lines and the number of its first line`() {
        let found = blocks("text\n\n```swift\nlet a = 1\n\n  a\n```\n\n```\nplain\n```\n")
        #expect(found.map(\.language) == ["swift", ""])
        #expect(found.map(\.line) == [4, 10])
        #expect(found.map(\.lines) == [["let a = 1", "", "  a"], ["plain"]])
    }

    @Test func `the indentation of a block in a list is removed`() {
        #expect(
            blocks("- item\n\n  ```swift\n  if a {\n      b\n  }\n  ```\n").map(\.lines) == [["if a {", "    b", "}"]])
    }

    @Test func `a block that contains a block ends at its own fence`() {
        #expect(blocks("````sh\n```swift\na\n```\n````\n").map(\.lines) == [["```swift", "a", "```"]])
    }

    @Test func `a block without a closing fence is returned`() {
        #expect(blocks("```swift\na").map(\.lines) == [["a"]])
    }

    @Test func `a comment declares constants for the next block only`() {
        let found = blocks("<!-- given: a: Int; b: [String: Int] -->\n\n```swift\na\n```\n\n```swift\nb\n```\n")
        #expect(
            found.map(\.given) == [[.init(name: "a", type: "Int"), .init(name: "b", type: "[String: Int]")], []])
    }

    private func sample(_ code: String) throws -> Sample {
        let article = Article(name: "A.md", text: "```swift\n\(code)\n```\n")
        return try #require(article.samples.first)
    }

    @Test func `statements become the body of a function, and their imports are moved to the top`() throws {
        let sample = try sample("import Synchronization\n\nlet a = 1")
        #expect(sample.kind == .statements)
        let lines = sample.source(number: 7).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.contains("import Synchronization"))
        #expect(lines.contains { $0.hasPrefix("func block7(_ provider: OfflineODataProvider, ") })
        let place = try #require(lines.firstIndex { $0.hasPrefix("#sourceLocation(file:") })
        #expect(lines[place].hasSuffix("A.md\", line: 2)"))
        #expect(lines[(place + 1)...].starts(with: ["", "", "let a = 1", "#sourceLocation()", "}"]))
    }

    @Test func `a constant that a comment declares replaces the predefined constant`() throws {
        let article = Article(name: "A.md", text: "<!-- given: order: Int -->\n```swift\norder\n```\n")
        let source = try #require(article.samples.first).source(number: 0)
        #expect(source.contains("_ order: Int"))
        #expect(!source.contains("_ order: Order"))
    }

    @Test func `extensions, manifests and parts of manifests are distinguished`() throws {
        #expect(try sample("import Tidelog\n\nextension Order {}").kind == .file)
        #expect(try sample("nonisolated struct Row {}").kind == .file)
        #expect(try sample("// swift-tools-version: 6.2\nimport PackageDescription").kind == .manifest)
        #expect(try sample(".target(name: \"A\")").kind == .manifestPart(type: "Target"))
        #expect(try sample(".package(path: \"a\")").kind == .manifestPart(type: "Package.Dependency"))
    }
}
