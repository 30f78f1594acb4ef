import EDM
import Testing
import Tidelog

/// Objects of a class of the app that sets the entity set in its initializer.
struct OwnEntitySetTests {
    private final class OwnOrder: EntityValue {
        required init(_ entityType: EntityType, withDefaults: Bool = false) {
            super.init(entityType, withDefaults: withDefaults)
            entitySet = (try? OwnEntitySetTests.model())?.findEntitySet("Own")
        }
    }

    private final class OwnService: DataService, @unchecked Sendable {
        override var entityClasses: [String: EntityValue.Type] { ["Shop.Order": OwnOrder.self] }
    }

    private static func model() throws -> EntityDataModel {
        try CSDLReader.read(
            Array(
                """
                <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
                <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
                <EntityContainer Name="C"><EntitySet Name="Own" EntityType="N.Thing"/></EntityContainer>
                </Schema>
                """.utf8))
    }

    @Test(arguments: Client.offline)
    func `a query of the queue returns the sets of the queue and of the service`(_ client: Client) async throws {
        let shop = try await Shop(client)
        try await shop.service.createEntity(try shop.new("Orders", ["Note": .string("new")]))
        let service = OwnService(provider: try #require(shop.store))
        let queued = try await service.executeQuery(
            DataQuery().withURL("RequestQueue?$expand=AffectedEntity")
        ).entityList()
        #expect(queued.map { $0.entitySet?.name } == ["RequestQueue"])
        let order = try #require(
            queued.first?.relatedEntity(OfflineODataRequestQueueEntity.affectedEntity.property))
        #expect(order is OwnOrder && order["Note"] == .string("new"))
        #expect(order.entitySet?.name == "Orders")
        #expect(OwnOrder(order.entityType).entitySet?.name == "Own")
    }
}
