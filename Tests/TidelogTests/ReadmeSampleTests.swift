import Foundation
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Compares the README's sample with the code between the two markers below, and runs it.
@Suite struct ReadmeSampleTests {
    private func sample(_ serviceRoot: String, _ parameters: OfflineODataParameters) async throws -> UploadReport {
        // README begins
        let provider = OfflineODataProvider(serviceRoot: serviceRoot, parameters: parameters)
        try await provider.add(definingQuery: OfflineODataDefiningQuery(name: "Customers", query: "/Customers"))
        try await provider.add(definingQuery: OfflineODataDefiningQuery(name: "Orders", query: "/Orders"))
        try await provider.open()
        try await provider.download()

        // From here on no network is needed.
        let service = DataService(provider: provider)
        let customers = try service.entitySet(withName: "Customers")
        let orders = try service.entitySet(withName: "Orders")
        let name = try customers.entityType.property(withName: "Name")
        let ordersOfCustomer = try customers.entityType.property(withName: "Orders")

        let customer = EntityValue.ofType(customers.entityType)
        name.setStringValue(in: customer, to: "Ada")
        try await service.createEntity(customer)

        let order = EntityValue.ofType(orders.entityType)
        try await service.createRelatedEntity(order, in: customer, property: ordersOfCustomer)

        let query = DataQuery().from(customers).filter(name.equal("Ada")).expand(ordersOfCustomer)
        let found = try await service.executeQuery(query).requiredEntity()
        print(found.readLink ?? "", found.relatedEntities(ordersOfCustomer).count)

        // When there is a network again.
        let report = try await provider.upload()
        print(report.confirmed.count, "confirmed,", report.rejected.count, "rejected")
        // README ends
        return report
    }

    @Test(arguments: ["v2", "v4"]) func `the sample of the README uploads its entities`(version: String) async throws {
        var sandbox = try Sandbox.shop()
        sandbox.origin = "http://shop.test"
        let directory = try TemporaryDirectory()
        let report = try await sample(
            "http://shop.test/\(version)/",
            OfflineODataParameters(storePath: directory.path, transport: SandboxTransport(sandbox)))
        #expect(report.confirmed.count == 2)
    }

    @Test func `the README contains the sample that this test runs`() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let readme = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "README.md")
        let indent = "        "
        let code = try #require(source.split(separator: "\(indent)// README begins\n", maxSplits: 1).last)
        let sample = try #require(code.split(separator: "\(indent)// README ends\n", maxSplits: 1).first)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(indent) ? String($0.dropFirst(indent.count)) : String($0) }.joined(separator: "\n")
        #expect(try String(contentsOf: readme, encoding: .utf8).contains("\n\n\(sample)```\n"))
    }
}
