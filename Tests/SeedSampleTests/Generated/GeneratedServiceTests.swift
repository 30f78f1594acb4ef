import ODataSandbox
import ODataWire
import ProxyGenerator
import Testing

/// The checked-in services of the samples are identical to the current output of the generator.
@Suite struct GeneratedServiceTests {
    private func expect(_ folder: String, _ service: String, _ metadata: [UInt8]) throws {
        let sources = try ProxySources(metadata: metadata, options: ProxyOptions(service: service))
        let generated = Dictionary(uniqueKeysWithValues: sources.files.map { ($0.name, $0.text) })
        #expect(
            try Checkout.swiftFiles("Tests/SampleServices/\(folder)") == generated,
            "Generate it again: swift run tidelog-proxygen -m METADATA -s \(service) -d Tests/SampleServices/\(folder)")
    }

    @Test func `the services of events are as generated`() throws {
        try expect("Events", "EventService", try Checkout.metadata("Events.v2"))
    }

    @Test func `the service of customers and products is as generated`() throws {
        try expect("Northwind", "ODataV4ServiceProxy", try Checkout.metadata("Northwind.v4"))
    }

    @Test func `the service of the shop is as generated`() throws {
        var sandbox = try Sandbox.shop()
        guard case .response(let response) = sandbox.reply(to: WireRequest(method: "GET", url: "/v4/$metadata")) else {
            Issue.record("The sandbox gave no metadata.")
            return
        }
        try expect("Shop", "ShopService", response.body)
    }
}
