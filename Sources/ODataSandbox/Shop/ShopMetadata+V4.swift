/// The metadata documents of the Shop: the same model in two versions.
enum ShopMetadata {
    /// The master metadata, which declare all content of the sandbox.
    static let v4 = """
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

        """
}
