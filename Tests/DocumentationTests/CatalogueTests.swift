import Testing

/// The content of the catalogue.
@Suite struct CatalogueTests {
    @Test func `the catalogue contains an article for each group of readers`() throws {
        let names = try Article.catalogue().map { $0.name.split(separator: "/").last.map(String.init) ?? "" }
        #expect(
            Set(names).isSuperset(of: [
                "Tidelog.md", "GettingStarted.md", "Relationships.md", "Keys.md", "ComingFromTheSAPSDK.md",
                "ComingFromObjectBox.md", "Tutorial.md",
            ]))
    }

    @Test func `the index of pages links each article`() throws {
        let index = try #require(try Article.all().first { $0.name == "Docs/README.md" })
        for article in try Article.catalogue() where !article.name.hasSuffix("/Tidelog.md") {
            #expect(index.text.contains("(../\(article.name))"), "\(article)")
        }
    }

    @Test func `each article of the catalogue shows code`() throws {
        for article in try Article.catalogue() { #expect(!article.samples.isEmpty, "\(article)") }
    }

    /// A block of Swift without a language would not be compiled.
    @Test func `each block of the catalogue declares its language`() throws {
        for article in try Article.catalogue() {
            for block in article.blocks {
                #expect(
                    ["swift", "sh", "json", "xml"].contains(block.language),
                    "\(article.name):\(block.line - 1): '\(block.language)'")
            }
        }
    }
}
