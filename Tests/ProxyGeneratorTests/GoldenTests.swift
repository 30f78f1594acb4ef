import ProxyGenerator
import Testing

/// The sources in `Generated` are part of this target, so they are compiled; `GeneratedClassesTests` uses them.
@Suite struct GoldenTests {
    @Test func `generation gives exactly the files that are checked in`() throws {
        let sources = try ProxySources(
            metadata: Array(CustomersAndOrders.v2.utf8), options: ProxyOptions(service: "SQLDataService"))
        let golden = try Checkout.swiftFiles("Tests/ProxyGeneratorTests/Generated")
        #expect(sources.files.map(\.name).sorted() == golden.map(\.name))
        for (name, text) in golden { #expect(sources.files.first { $0.name == name }?.text == text) }
    }
}
