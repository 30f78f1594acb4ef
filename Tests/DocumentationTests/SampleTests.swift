import Testing

/// The samples in the articles compile.
@Suite(.enabled(if: Compiler.path != nil, "skipped: there is no swiftc on the search path"), .timeLimit(.minutes(10)))
struct SampleTests {
    @Test(arguments: Compiler.Isolation.allCases)
    func `every block of Swift compiles`(_ isolation: Compiler.Isolation) throws {
        let samples = try Article.all().flatMap(\.samples)
        let complaints = try Compiler.complaints(samples, isolation)
        #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n"))")
        print("samples of the documentation: \(samples.count) compiled, default isolation \(isolation.rawValue)")
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
