import ProxyGenerator
import TestSupport
import Testing

/// Generated sources compared with the files in the folders `Generated…`. These are part of this target, so they are
/// compiled, and other tests use them.
@Suite struct GoldenTests {
    private func expect(_ folder: String, _ metadata: String, _ options: ProxyOptions) throws {
        let sources = try ProxySources(metadata: Array(metadata.utf8), options: options)
        let golden = try Checkout.swiftFiles("Tests/ProxyGeneratorTests/\(folder)")
        #expect(sources.files.map(\.name).sorted() == golden.map(\.name))
        for (name, text) in golden {
            #expect(sources.files.first { $0.name == name }?.text == text, "generate \(folder)/\(name) again")
        }
    }

    @Test func `the generator produces exactly the files that are checked in`() throws {
        try expect("Generated", CustomersAndOrders.v2, ProxyOptions(service: "SQLDataService"))
    }

    @Test func `the generator produces exactly the checked-in files without optionals`() throws {
        try expect(
            "GeneratedOffice", Office.metadata, ProxyOptions(service: "OfficeService", disablesOptionals: true))
    }

    @Test func `the generator produces exactly the checked-in files of functions and actions`() throws {
        try expect("GeneratedAirports", AirportMetadata.v4, ProxyOptions(service: "AirService"))
    }
}
