/// A service with customers and their orders. The sources in `Generated` are generated from its metadata.
enum CustomersAndOrders {
    /// The metadata in V2. The last three properties of the order need different names in Swift.
    static let v2 = """
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
            xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
          <edmx:DataServices m:DataServiceVersion="2.0">
            <Schema Namespace="SQLData" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
              <EntityType Name="Customers">
                <Key><PropertyRef Name="CustomerID"/></Key>
                <Property Name="CustomerID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="Name" Type="Edm.String" Nullable="false" MaxLength="20"/>
                <NavigationProperty Name="Orders" Relationship="SQLData.Customer_Orders"
                    FromRole="Customers_Principal" ToRole="Orders_Dependent"/>
              </EntityType>
              <EntityType Name="Orders">
                <Key><PropertyRef Name="OrderID"/></Key>
                <Property Name="OrderID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="CustomerID" Type="Edm.Int32"/>
                <Property Name="Amount" Type="Edm.Decimal" Precision="12" Scale="2"/>
                <Property Name="Reference" Type="Edm.Guid"/>
                <Property Name="PlacedAt" Type="Edm.DateTime"/>
                <Property Name="Weight" Type="Edm.Double"/>
                <Property Name="IsPaid" Type="Edm.Boolean"/>
                <Property Name="Seal" Type="Edm.Binary"/>
                <Property Name="default" Type="Edm.String"/>
                <Property Name="State" Type="Edm.String"/>
                <Property Name="self" Type="Edm.String"/>
                <NavigationProperty Name="Customer" Relationship="SQLData.Customer_Orders"
                    FromRole="Orders_Dependent" ToRole="Customers_Principal"/>
              </EntityType>
              <Association Name="Customer_Orders">
                <End Role="Orders_Dependent" Type="SQLData.Orders" Multiplicity="*"/>
                <End Role="Customers_Principal" Type="SQLData.Customers" Multiplicity="0..1"/>
                <ReferentialConstraint>
                  <Principal Role="Customers_Principal"><PropertyRef Name="CustomerID"/></Principal>
                  <Dependent Role="Orders_Dependent"><PropertyRef Name="CustomerID"/></Dependent>
                </ReferentialConstraint>
              </Association>
              <EntityContainer Name="SQLDataEntities" m:IsDefaultEntityContainer="true">
                <EntitySet Name="Customers" EntityType="SQLData.Customers"/>
                <EntitySet Name="Orders" EntityType="SQLData.Orders"/>
                <AssociationSet Name="Customer_Orders" Association="SQLData.Customer_Orders">
                  <End Role="Orders_Dependent" EntitySet="Orders"/>
                  <End Role="Customers_Principal" EntitySet="Customers"/>
                </AssociationSet>
              </EntityContainer>
            </Schema>
          </edmx:DataServices>
        </edmx:Edmx>
        """

    /// The same metadata in V4, as the sandbox requires.
    static let v4 = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
          <edmx:DataServices>
            <Schema Namespace="SQLData" xmlns="http://docs.oasis-open.org/odata/ns/edm">
              <EntityType Name="Customers">
                <Key><PropertyRef Name="CustomerID"/></Key>
                <Property Name="CustomerID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="Name" Type="Edm.String" Nullable="false" MaxLength="20"/>
                <NavigationProperty Name="Orders" Type="Collection(SQLData.Orders)" Partner="Customer"/>
              </EntityType>
              <EntityType Name="Orders">
                <Key><PropertyRef Name="OrderID"/></Key>
                <Property Name="OrderID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="CustomerID" Type="Edm.Int32"/>
                <Property Name="Amount" Type="Edm.Decimal" Precision="12" Scale="2"/>
                <Property Name="Reference" Type="Edm.Guid"/>
                <Property Name="PlacedAt" Type="Edm.DateTimeOffset"/>
                <Property Name="Weight" Type="Edm.Double"/>
                <Property Name="IsPaid" Type="Edm.Boolean"/>
                <Property Name="Seal" Type="Edm.Binary"/>
                <Property Name="default" Type="Edm.String"/>
                <Property Name="State" Type="Edm.String"/>
                <Property Name="self" Type="Edm.String"/>
                <NavigationProperty Name="Customer" Type="SQLData.Customers" Partner="Orders">
                  <ReferentialConstraint Property="CustomerID" ReferencedProperty="CustomerID"/>
                </NavigationProperty>
              </EntityType>
              <EntityContainer Name="SQLDataEntities">
                <EntitySet Name="Customers" EntityType="SQLData.Customers">
                  <NavigationPropertyBinding Path="Orders" Target="Orders"/>
                </EntitySet>
                <EntitySet Name="Orders" EntityType="SQLData.Orders">
                  <NavigationPropertyBinding Path="Customer" Target="Customers"/>
                </EntitySet>
              </EntityContainer>
            </Schema>
          </edmx:DataServices>
        </edmx:Edmx>
        """
}
