import Testing

/// The samples in the articles compile.
@Suite(.enabled(if: Compiler.path != nil, "skipped: there is no swiftc on the search path"), .timeLimit(.minutes(30)))
struct SampleTests {
    @Test(arguments: Compiler.Isolation.allCases)
    func `every block of Swift compiles`(_ isolation: Compiler.Isolation) throws {
        let samples = try Article.all().flatMap(\.samples)
        let complaints = try Compiler.complaints(samples, isolation)
        #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n"))")
        print("samples of the documentation: \(samples.count) compiled, default isolation \(isolation.rawValue)")
    }

    @Test(arguments: Compiler.Isolation.allCases)
    func `the first program of the README compiles as a main file`(_ isolation: Compiler.Isolation) throws {
        let readme = try #require(try Article.all().first { $0.name == "README.md" })
        let program = try #require(
            readme.samples.first { $0.block.lines.contains("let serviceRoot = \"http://127.0.0.1:8080/v4/\"") })
        let complaints = try Compiler.complaints(program: [program], isolation)
        #expect(complaints.isEmpty, "\(complaints)")
    }

    @Test func `each manifest names the package, so that its folder may have a different name`() throws {
        let manifests = try Article.all().flatMap(\.samples).filter { $0.kind == .manifest }
        #expect(manifests.count >= 3)
        for manifest in manifests {
            let dependencies = manifest.block.lines.filter { $0.contains(".package(") }
            #expect(dependencies.allSatisfy { $0.contains(".package(name: \"tidelog\", path:") }, "\(dependencies)")
        }
    }

    @Test func `a block that does not compile is reported with its article and line`() throws {
        let article = Article(
            name: "Docs/Wrong.md",
            text: """
                # Wrong

                ```swift
                customer.name = "Ada"
                ```

                ```swift
                import Tidelog

                order.quantity = "many"
                ```
                """)
        let complaints = try Compiler.complaints(article.samples)
        #expect(complaints.count == 1)
        #expect(complaints.first?.hasPrefix("\(article.path):10:") == true, "\(complaints)")
    }

    @Test func `a block that shares an entity between tasks is reported`() throws {
        let article = Article(
            name: "Docs/Wrong.md",
            text: """
                ```swift
                let name = Task { customer.name }
                print(customer.name ?? "", await name.value ?? "")
                ```
                """)
        #expect(try Compiler.complaints(article.samples).first?.hasPrefix("\(article.path):2:") == true)
    }

    @Test func `a manifest that does not compile is reported`() throws {
        let article = Article(
            name: "Docs/Wrong.md",
            text: """
                ```swift
                .target(name: "Shop", plugin: "TidelogProxies")
                ```
                """)
        #expect(try Compiler.complaints(article.samples).first?.hasPrefix("\(article.path):2:") == true)
    }
}
