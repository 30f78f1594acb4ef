import Foundation
import TestSupport
import Testing
import Tidelog

/// Third-party servers as origins of a gateway, whose ledger contains the uploads.
@Suite(.serialized) struct GatewayOriginTests {
    /// Creates, updates and deletes an entity, and expects that the ledger has the outcome of each upload.
    private func check(_ server: InteropServer, isLegacy: Bool) async throws {
        try await server.run { root in
            try await InteropServer.withGateway(root) { gateway in
                let place = try await Workplace(
                    gateway.root(InteropServer.endpoint), queries: ["Customers": "Customers"])
                if isLegacy { try await place.makeRepeatable() }
                let customer = try place.new("Customers", ["Name": .string("Ada")])
                try await place.service.createEntity(customer)
                try await place.synchronize()
                try await place.service.loadEntity(customer)
                customer["Name"] = .string("Ada Lovelace")
                try await place.service.updateEntity(customer)
                try await place.synchronize()
                // The origin has the change as well.
                let direct = DataService(provider: OnlineODataProvider(serviceRoot: root))
                try await direct.loadMetadata()
                let there = try await direct.executeQuery(DataQuery().withURL("Customers")).requiredEntity()
                #expect(there["Name"] == .string("Ada Lovelace"))
                try await place.service.loadEntity(customer)
                try await place.service.deleteEntity(customer)
                try await place.synchronize()
                #expect(try await direct.executeQuery(DataQuery().withURL("Customers")).entityList().isEmpty)
                let rows = try gateway.ledgerRows()
                #expect(rows.count == 3, "\(rows)")
                #expect(rows.allSatisfy { $0.contains(" done ") }, "\(rows)")
            }
        }
    }

    @Test(.enabled(if: InteropServer.odatapy.isAvailable, "odatapy cannot be run here"))
    func `the ledger has the outcome of each upload to odatapy`() async throws {
        try await check(.odatapy, isLegacy: false)
    }

    @Test(.enabled(if: InteropServer.mockSAP.isAvailable, "mock-sap cannot be run here"))
    func `the ledger has the outcome of each upload to mock-sap`() async throws {
        try await check(.mockSAP, isLegacy: true)
    }
}
