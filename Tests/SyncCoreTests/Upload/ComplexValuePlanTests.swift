import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// Complex values in updates. The store replaces them as a whole, and a V4 service merges them.
struct ComplexValuePlanTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <ComplexType Name="Address" OpenType="true"><Property Name="City" Type="Edm.String"/>
        <Property Name="Street" Type="Edm.String"/><Property Name="Lines" Type="Collection(Edm.String)"/>
        <Property Name="Country" Type="Edm.String" Nullable="false"/><Property Name="Label" Type="Edm.String">
        <Annotation Term="Org.OData.Core.V1.Computed" Bool="true"/></Property></ComplexType>
        <ComplexType Name="Harbor" BaseType="Shop.Address" OpenType="true"><Property Name="Dock" Type="Edm.String"/>
        </ComplexType><EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32"/>
        <Property Name="Address" Type="Shop.Address"/></EntityType>
        <EntityContainer Name="Container"><EntitySet Name="Customers" EntityType="Shop.Customer"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private let store: TestStore

    init() throws {
        store = try TestStore(ServiceDescription(root: "http://127.0.0.1/v4/", metadata: Array(Self.metadata.utf8)))
    }

    /// Downloads a customer with this address.
    private func customer(_ address: Value) throws -> EntityID {
        try store.download("Customers", ["ID": .integer(1), "Address": address])
    }

    private func address(_ properties: PropertyValues) -> Value {
        .complex(ComplexValue(properties: properties))
    }

    private func change(_ customer: EntityID, _ address: Value) -> Operation.Action {
        .update(customer, changes: ["Address": address], bindings: [])
    }

    /// Returns the address in each update of the plan.
    private func sent() throws -> [Value?] {
        try store.plan().changeSets.flatMap(\.requests).map { request in
            guard case .update(_, let body, false) = request.modification.action else { return nil }
            return body.values["Address"]
        }
    }

    @Test func `an update sets the members to null that its complex value lacks`() throws {
        let id = try customer(address(["City": .string("Rome"), "Street": .string("Via Appia"), "Floor": .double(2)]))
        try store.perform([change(id, address(["City": .string("Oslo")]))])
        #expect(try sent() == [address(["City": .string("Oslo"), "Street": .null, "Floor": .null])])
    }

    @Test func `an update sets a collection to empty that its complex value lacks`() throws {
        let id = try customer(address(["City": .string("Rome"), "Lines": .collection([.string("a")])]))
        try store.perform([change(id, address(["City": .string("Oslo")]))])
        #expect(try sent() == [address(["City": .string("Oslo"), "Lines": .collection([])])])
    }

    @Test func `an update does not name members that are computed, were never read, or cannot be null`() throws {
        let id = try customer(
            address([
                "City": .string("Rome"), "Street": .null, "Country": .string("Italy"), "Label": .string("Rome 1"),
            ]))
        try store.perform([change(id, address(["City": .string("Oslo")]))])
        #expect(try sent() == [address(["City": .string("Oslo")])])
    }

    @Test func `an update sets the members to null that an earlier update of the change set has set`() throws {
        let id = try customer(address(["City": .string("Rome")]))
        try store.perform(
            [
                change(id, address(["City": .string("Oslo"), "Street": .string("Akersgata")])),
                change(id, address(["City": .string("Bergen")])),
            ], changeSet: true)
        #expect(try sent().last == address(["City": .string("Bergen"), "Street": .null]))
    }

    @Test func `an update sets the members to null that an earlier update of the batch has or sets`() throws {
        let id = try customer(address(["City": .string("Rome"), "Floor": .double(2)]))
        try store.perform([
            change(id, address(["City": .string("Oslo"), "Street": .string("Akersgata")])),
            change(id, address(["City": .string("Bergen")])),
        ])
        #expect(try store.plan().changeSets.count == 2)
        #expect(
            try sent() == [
                address(["City": .string("Oslo"), "Street": .string("Akersgata"), "Floor": .null]),
                // Also the member of the service's value, because the first update may be refused.
                address(["City": .string("Bergen"), "Street": .null, "Floor": .null]),
            ])
    }

    @Test func `an update of an entity of the same change set sets the members to null that it lacks`() throws {
        let id = try store.newID()
        let values: PropertyValues = [
            "ID": .integer(1), "Address": address(["City": .string("Rome"), "Street": .string("Via Appia")]),
        ]
        try store.perform(
            [
                .create(Creation(entity: id, set: "Customers", type: "Shop.Customer", values: values), parent: nil),
                change(id, address(["City": .string("Oslo")])),
            ], changeSet: true)
        #expect(try sent().last == address(["City": .string("Oslo"), "Street": .null]))
    }

    @Test func `an update to a value of another type sets the members to null that both types have`() throws {
        let id = try customer(
            .complex(
                ComplexValue(
                    type: "Shop.Harbor",
                    properties: ["City": .string("Rome"), "Street": .string("Via Appia"), "Dock": .string("3")])))
        try store.perform([change(id, address(["City": .string("Oslo")]))])
        #expect(try sent() == [address(["City": .string("Oslo"), "Street": .null])])
    }

    @Test func `the declared type of a complex value is the same whether the value names it or not`() throws {
        let id = try customer(
            .complex(ComplexValue(type: "Shop.Address", properties: ["City": .string("Rome"), "Floor": .double(2)])))
        try store.perform([change(id, address(["City": .string("Oslo")]))])
        #expect(try sent() == [address(["City": .string("Oslo"), "Floor": .null])])
    }

    @Test func `a V2 update sets the members to null that its complex value lacks`() throws {
        let metadata = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices
            m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
            <Schema Namespace="Shop" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
            <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/>
            <Property Name="Street" Type="Edm.String"/></ComplexType>
            <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Address" Type="Shop.Address" Nullable="false"/></EntityType>
            <EntityContainer Name="Container"><EntitySet Name="Customers" EntityType="Shop.Customer"/>
            </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
        let store = try TestStore(ServiceDescription(root: "http://127.0.0.1/v2/", metadata: Array(metadata.utf8)))
        let id = try store.download(
            "Customers",
            ["ID": .integer(1), "Address": address(["City": .string("Rome"), "Street": .string("Via Appia")])])
        try store.perform([change(id, address(["City": .string("Oslo")]))])
        let request = try #require(store.plan().changeSets.first?.requests.first)
        guard case .update(_, let body, false) = request.modification.action else {
            Issue.record("no update")
            return
        }
        #expect(body.values["Address"] == address(["City": .string("Oslo"), "Street": .null]))
    }

    @Test func `an update of null, and one to null, sends the value as it is`() throws {
        let id = try customer(.null)
        try store.perform([change(id, address(["City": .string("Oslo")]))])
        #expect(try sent() == [address(["City": .string("Oslo")])])
        let other = try store.download("Customers", ["ID": .integer(2), "Address": address(["City": .string("Rome")])])
        try store.perform([change(other, .null)])
        #expect(try sent().last == .null)
    }
}
