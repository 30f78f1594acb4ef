// swift-format-ignore-file
import Foundation
import HTTPTypes
import Testing
import Tidelog

/// Made by 'tidelog generate-test'.
@Suite struct SandboxLogV4Tests {
    @Test func `Orders?$filter=Note eq 'x' and Customer/Name eq 'Neu' holds`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidelog-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let parameters = OfflineODataParameters(storePath: folder.path, transport: RecordedService(), durability: .none)
        let provider = OfflineODataProvider(serviceRoot: "http://service.invalid/", parameters: parameters)
        try await provider.add(definingQuery: OfflineODataDefiningQuery(name: "Customers", query: "Customers?$expand=Orders"))
        try await provider.add(definingQuery: OfflineODataDefiningQuery(name: "Orders", query: "Orders"))
        try await provider.open()
        let service = DataService(provider: provider)
        _ = try await provider.download()
        let metadata = try service.metadata
        _ = metadata
        let entity1 = try await service.executeQuery(DataQuery().withURL("Customers(1)")).requiredEntity()
        entity1["Name"] = .string("E\"v\\e")
        try await service.updateEntity(entity1)
        let entity8 = EntityValue(try #require(metadata.findEntityType("Shop.Customer")))
        entity8.entitySet = try service.entitySet(withName: "Customers")
        entity8["Name"] = .string("Neu")
        try await service.createEntity(entity8)
        let entity9 = EntityValue(try #require(metadata.findEntityType("Shop.Order")))
        entity9.entitySet = try service.entitySet(withName: "Orders")
        entity9["Note"] = .string("x")
        entity9.bindEntity(entity8, to: try #require(entity9.entityType.findProperty("Customer")))
        try await service.createEntity(entity9)
        let entity4 = try await service.executeQuery(DataQuery().withURL("Orders(1)")).requiredEntity()
        try await service.deleteEntity(entity4)
        let found = try await service.executeQuery(DataQuery().withURL("Orders?$filter=Note eq 'x' and Customer/Name eq 'Neu'"))
        if let value = found.value {
            #expect(value != .null && value != .boolean(false))
        } else {
            #expect(!found.entityList().isEmpty)
        }
        await provider.close()
    }
}

/// The service as the log had it.
private struct RecordedService: HTTPTransport {
    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        let set = (request.path ?? "").prefix { $0 != "?" }.split(separator: "/").last.map(String.init) ?? ""
        let isMetadata = set == "$metadata"
        let text = isMetadata ? Self.metadata : Self.answers[set] ?? ""
        var response = HTTPResponse(status: text.isEmpty ? .notFound : .ok)
        response.headerFields[.contentType] = isMetadata ? "application/xml" : "application/json"
        return (response, Array(text.utf8))
    }

    private static let answers: [String: String] = [
        "Customers": #"""
{"value":[{"CustomerID":1,"Name":"Ada Lovelace","Address":{"Street":"Rue du Port 5","City":"Genève","Zip":"1204"},"Tags":["vip","math"],"Rating":4.75,"Since":"2019-03-01","Orders":[{"OrderID":1},{"OrderID":2}]},{"CustomerID":2,"Name":"Grace Hopper","Address":null,"Tags":[],"Rating":5.00,"Since":"2020-12-09","Orders":[{"OrderID":3}]},{"CustomerID":3,"Name":"O'Neil & Söhne","Address":null,"Tags":[],"Rating":null,"Since":null}]}
"""#,
        "Orders": #"""
{"value":[{"OrderID":1,"CustomerID":1,"Note":"engine parts","Amount":1200.5000,"Quantity":3,"Total":3601,"PlacedAt":"2024-01-15T09:30:00Z"},{"OrderID":2,"CustomerID":1,"Note":"punched cards","Amount":0.1250,"Quantity":10000,"Total":1250,"PlacedAt":"2024-02-29T23:59:59.1234567Z"},{"OrderID":3,"CustomerID":2,"Note":"nanoseconds","Amount":11.8000,"Quantity":1,"Total":9007199254740993,"PlacedAt":"2024-03-10T08:00:00+02:00"},{"OrderID":4,"CustomerID":null,"Note":"without a customer","Amount":99.9900,"Quantity":2,"Total":200,"PlacedAt":"2024-04-01T12:00:00Z"}]}
"""#,
    ]

    private static let metadata = #"""
<?xml version="1.0" encoding="utf-8"?>
<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
  <edmx:DataServices>
    <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
      <EnumType Name="Mood">
        <Member Name="Calm" Value="0"/>
        <Member Name="Busy" Value="1"/>
        <Member Name="Festive" Value="2"/>
      </EnumType>
      <ComplexType Name="Address">
        <Property Name="Street" Type="Edm.String"/>
        <Property Name="City" Type="Edm.String"/>
        <Property Name="Zip" Type="Edm.String" MaxLength="10"/>
      </ComplexType>
      <EntityType Name="Customer">
        <Key><PropertyRef Name="CustomerID"/></Key>
        <Property Name="CustomerID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String" Nullable="false" MaxLength="80"/>
        <Property Name="Address" Type="Shop.Address"/>
        <Property Name="Tags" Type="Collection(Edm.String)" Nullable="false"/>
        <Property Name="Rating" Type="Edm.Decimal" Precision="5" Scale="2"/>
        <Property Name="Since" Type="Edm.Date"/>
        <NavigationProperty Name="Orders" Type="Collection(Shop.Order)" Partner="Customer"/>
      </EntityType>
      <EntityType Name="Order">
        <Key><PropertyRef Name="OrderID"/></Key>
        <Property Name="OrderID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="CustomerID" Type="Edm.Int32"/>
        <Property Name="Note" Type="Edm.String"/>
        <Property Name="Amount" Type="Edm.Decimal" Precision="18" Scale="4"/>
        <Property Name="Quantity" Type="Edm.Int16"/>
        <Property Name="Total" Type="Edm.Int64"/>
        <Property Name="PlacedAt" Type="Edm.DateTimeOffset" Precision="7"/>
        <NavigationProperty Name="Customer" Type="Shop.Customer" Partner="Orders">
          <ReferentialConstraint Property="CustomerID" ReferencedProperty="CustomerID"/>
        </NavigationProperty>
      </EntityType>
      <EntityType Name="Owner">
        <Key><PropertyRef Name="OwnerID"/></Key>
        <Property Name="OwnerID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/>
        <NavigationProperty Name="Car" Type="Shop.Car" Nullable="false" Partner="Owner"/>
      </EntityType>
      <EntityType Name="Car">
        <Key><PropertyRef Name="CarID"/></Key>
        <Property Name="CarID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Model" Type="Edm.String"/>
        <Property Name="OwnerID" Type="Edm.Int32"/>
        <NavigationProperty Name="Owner" Type="Shop.Owner" Nullable="false" Partner="Car">
          <ReferentialConstraint Property="OwnerID" ReferencedProperty="OwnerID"/>
        </NavigationProperty>
      </EntityType>
      <EntityType Name="City">
        <Key><PropertyRef Name="CityID"/></Key>
        <Property Name="CityID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/>
        <NavigationProperty Name="Mayor" Type="Shop.Mayor" Partner="City"/>
      </EntityType>
      <EntityType Name="Mayor">
        <Key><PropertyRef Name="MayorID"/></Key>
        <Property Name="MayorID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/>
        <Property Name="CityID" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="City" Type="Shop.City" Nullable="false" Partner="Mayor">
          <ReferentialConstraint Property="CityID" ReferencedProperty="CityID"/>
        </NavigationProperty>
      </EntityType>
      <EntityType Name="Father">
        <Key><PropertyRef Name="FatherID"/></Key>
        <Property Name="FatherID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/>
        <NavigationProperty Name="Children" Type="Collection(Shop.Child)" Partner="Father"/>
      </EntityType>
      <EntityType Name="Child">
        <Key><PropertyRef Name="ChildID"/></Key>
        <Property Name="ChildID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/>
        <Property Name="FatherID" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="Father" Type="Shop.Father" Nullable="false" Partner="Children">
          <ReferentialConstraint Property="FatherID" ReferencedProperty="FatherID"/>
        </NavigationProperty>
      </EntityType>
      <EntityType Name="Person">
        <Key><PropertyRef Name="PersonID"/></Key>
        <Property Name="PersonID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/>
        <NavigationProperty Name="IDCard" Type="Shop.IDCard" Partner="Person"/>
      </EntityType>
      <EntityType Name="IDCard">
        <Key><PropertyRef Name="IDCardID"/></Key>
        <Property Name="IDCardID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Number" Type="Edm.String"/>
        <Property Name="PersonID" Type="Edm.Int32"/>
        <NavigationProperty Name="Person" Type="Shop.Person" Partner="IDCard">
          <ReferentialConstraint Property="PersonID" ReferencedProperty="PersonID"/>
        </NavigationProperty>
      </EntityType>
      <EntityType Name="Supplier">
        <Key><PropertyRef Name="SupplierID"/></Key>
        <Property Name="SupplierID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/>
        <NavigationProperty Name="Products" Type="Collection(Shop.Product)" Partner="Suppliers"/>
      </EntityType>
      <EntityType Name="Product">
        <Key><PropertyRef Name="ProductID"/></Key>
        <Property Name="ProductID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/>
        <Property Name="Price" Type="Edm.Decimal" Precision="10" Scale="2"/>
        <NavigationProperty Name="Suppliers" Type="Collection(Shop.Supplier)" Partner="Products"/>
      </EntityType>
      <EntityType Name="Visit">
        <Key><PropertyRef Name="VisitID"/></Key>
        <Property Name="VisitID" Type="Edm.Guid" Nullable="false"/>
        <Property Name="Subject" Type="Edm.String"/>
        <Property Name="Start" Type="Edm.DateTimeOffset" Precision="7"/>
        <Property Name="Duration" Type="Edm.Duration" Precision="7"/>
        <Property Name="Mood" Type="Shop.Mood"/>
      </EntityType>
      <EntityType Name="Photo" HasStream="true">
        <Key><PropertyRef Name="PhotoID"/></Key>
        <Property Name="PhotoID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Caption" Type="Edm.String"/>
        <Property Name="ContentType" Type="Edm.String"/>
      </EntityType>
      <EntityType Name="Price">
        <Key><PropertyRef Name="Currency"/><PropertyRef Name="Day"/></Key>
        <Property Name="Currency" Type="Edm.String" Nullable="false" MaxLength="3"/>
        <Property Name="Day" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Amount" Type="Edm.Decimal" Precision="18" Scale="4"/>
      </EntityType>
      <Function Name="TopCustomers">
        <Parameter Name="count" Type="Edm.Int32" Nullable="false"/>
        <ReturnType Type="Collection(Shop.Customer)" Nullable="false"/>
      </Function>
      <Function Name="Turnover">
        <Parameter Name="customer" Type="Edm.Int32" Nullable="false"/>
        <ReturnType Type="Edm.Int64" Nullable="false"/>
      </Function>
      <Action Name="CancelOrder">
        <Parameter Name="order" Type="Edm.Int32" Nullable="false"/>
      </Action>
      <Action Name="Annotate" IsBound="true" EntitySetPath="order">
        <Parameter Name="order" Type="Shop.Order" Nullable="false"/>
        <Parameter Name="note" Type="Edm.String"/>
        <ReturnType Type="Shop.Order" Nullable="false"/>
      </Action>
      <EntityContainer Name="Container">
        <EntitySet Name="Customers" EntityType="Shop.Customer">
          <NavigationPropertyBinding Path="Orders" Target="Orders"/>
        </EntitySet>
        <EntitySet Name="Orders" EntityType="Shop.Order">
          <NavigationPropertyBinding Path="Customer" Target="Customers"/>
        </EntitySet>
        <EntitySet Name="Owners" EntityType="Shop.Owner">
          <NavigationPropertyBinding Path="Car" Target="Cars"/>
        </EntitySet>
        <EntitySet Name="Cars" EntityType="Shop.Car">
          <NavigationPropertyBinding Path="Owner" Target="Owners"/>
        </EntitySet>
        <EntitySet Name="Cities" EntityType="Shop.City">
          <NavigationPropertyBinding Path="Mayor" Target="Mayors"/>
        </EntitySet>
        <EntitySet Name="Mayors" EntityType="Shop.Mayor">
          <NavigationPropertyBinding Path="City" Target="Cities"/>
        </EntitySet>
        <EntitySet Name="Fathers" EntityType="Shop.Father">
          <NavigationPropertyBinding Path="Children" Target="Children"/>
        </EntitySet>
        <EntitySet Name="Children" EntityType="Shop.Child">
          <NavigationPropertyBinding Path="Father" Target="Fathers"/>
        </EntitySet>
        <EntitySet Name="Persons" EntityType="Shop.Person">
          <NavigationPropertyBinding Path="IDCard" Target="IDCards"/>
        </EntitySet>
        <EntitySet Name="IDCards" EntityType="Shop.IDCard">
          <NavigationPropertyBinding Path="Person" Target="Persons"/>
        </EntitySet>
        <EntitySet Name="Suppliers" EntityType="Shop.Supplier">
          <NavigationPropertyBinding Path="Products" Target="Products"/>
        </EntitySet>
        <EntitySet Name="Products" EntityType="Shop.Product">
          <NavigationPropertyBinding Path="Suppliers" Target="Suppliers"/>
        </EntitySet>
        <EntitySet Name="Visits" EntityType="Shop.Visit"/>
        <EntitySet Name="Photos" EntityType="Shop.Photo"/>
        <EntitySet Name="Prices" EntityType="Shop.Price"/>
        <FunctionImport Name="TopCustomers" Function="Shop.TopCustomers" EntitySet="Customers"/>
        <FunctionImport Name="Turnover" Function="Shop.Turnover"/>
        <ActionImport Name="CancelOrder" Action="Shop.CancelOrder"/>
      </EntityContainer>
    </Schema>
  </edmx:DataServices>
</edmx:Edmx>

"""#
}
