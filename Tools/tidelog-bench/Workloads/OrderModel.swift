/// The metadata of the workload "orders": orders, and a customer for each, to which a dependent property refers.
enum OrderModel {
    /// - Parameter more: Declarations of further properties of an order.
    static func metadata(more: String = "") -> [UInt8] {
        Array(
            """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            <EntityType Name="Customer"><Key><PropertyRef Name="CustomerID"/></Key>
            <Property Name="CustomerID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
            <NavigationProperty Name="Orders" Type="Collection(Shop.Order)" Partner="Customer"/></EntityType>
            <EntityType Name="Order"><Key><PropertyRef Name="OrderID"/></Key>
            <Property Name="OrderID" Type="Edm.Int32" Nullable="false"/><Property Name="CustomerID" Type="Edm.Int32"/>
            <Property Name="Status" Type="Edm.String"/><Property Name="Note" Type="Edm.String"/>
            <Property Name="Amount" Type="Edm.Decimal" Scale="2"/>
            <Property Name="OrderedAt" Type="Edm.DateTimeOffset" Precision="3"/>
            <Property Name="Quantity" Type="Edm.Int32"/><Property Name="IsPriority" Type="Edm.Boolean"/>\(more)
            <NavigationProperty Name="Customer" Type="Shop.Customer" Partner="Orders">
            <ReferentialConstraint Property="CustomerID" ReferencedProperty="CustomerID"/></NavigationProperty>
            </EntityType>
            <EntityContainer Name="C">
            <EntitySet Name="Customers" EntityType="Shop.Customer">
            <NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>
            <EntitySet Name="Orders" EntityType="Shop.Order">
            <NavigationPropertyBinding Path="Customer" Target="Customers"/></EntitySet>
            </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """.utf8)
    }
}
