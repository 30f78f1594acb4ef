extension ShopMetadata {
    /// The model as far as V2 can represent it: without collections and enumerations, with a date as a date and time at
    /// midnight, and a duration as a time.
    static let v2 = """
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
          <edmx:DataServices m:DataServiceVersion="2.0" \
        xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <Schema Namespace="Shop" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
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
            <Property Name="Rating" Type="Edm.Decimal" Precision="5" Scale="2"/>
            <Property Name="Since" Type="Edm.DateTime" Precision="0"/>
            <NavigationProperty Name="Orders" Relationship="Shop.Customer_Order" FromRole="Customer" ToRole="Order"/>
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
            <NavigationProperty Name="Customer" Relationship="Shop.Customer_Order" FromRole="Order" ToRole="Customer"/>
          </EntityType>
          <EntityType Name="Owner">
            <Key><PropertyRef Name="OwnerID"/></Key>
            <Property Name="OwnerID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Name" Type="Edm.String"/>
            <NavigationProperty Name="Car" Relationship="Shop.Owner_Car" FromRole="Owner" ToRole="Car"/>
          </EntityType>
          <EntityType Name="Car">
            <Key><PropertyRef Name="CarID"/></Key>
            <Property Name="CarID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Model" Type="Edm.String"/>
            <Property Name="OwnerID" Type="Edm.Int32"/>
            <NavigationProperty Name="Owner" Relationship="Shop.Owner_Car" FromRole="Car" ToRole="Owner"/>
          </EntityType>
          <EntityType Name="City">
            <Key><PropertyRef Name="CityID"/></Key>
            <Property Name="CityID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Name" Type="Edm.String"/>
            <NavigationProperty Name="Mayor" Relationship="Shop.City_Mayor" FromRole="City" ToRole="Mayor"/>
          </EntityType>
          <EntityType Name="Mayor">
            <Key><PropertyRef Name="MayorID"/></Key>
            <Property Name="MayorID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Name" Type="Edm.String"/>
            <Property Name="CityID" Type="Edm.Int32" Nullable="false"/>
            <NavigationProperty Name="City" Relationship="Shop.City_Mayor" FromRole="Mayor" ToRole="City"/>
          </EntityType>
          <EntityType Name="Father">
            <Key><PropertyRef Name="FatherID"/></Key>
            <Property Name="FatherID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Name" Type="Edm.String"/>
            <NavigationProperty Name="Children" Relationship="Shop.Father_Child" FromRole="Father" ToRole="Child"/>
          </EntityType>
          <EntityType Name="Child">
            <Key><PropertyRef Name="ChildID"/></Key>
            <Property Name="ChildID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Name" Type="Edm.String"/>
            <Property Name="FatherID" Type="Edm.Int32" Nullable="false"/>
            <NavigationProperty Name="Father" Relationship="Shop.Father_Child" FromRole="Child" ToRole="Father"/>
          </EntityType>
          <EntityType Name="Person">
            <Key><PropertyRef Name="PersonID"/></Key>
            <Property Name="PersonID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Name" Type="Edm.String"/>
            <NavigationProperty Name="IDCard" Relationship="Shop.Person_IDCard" FromRole="Person" ToRole="IDCard"/>
          </EntityType>
          <EntityType Name="IDCard">
            <Key><PropertyRef Name="IDCardID"/></Key>
            <Property Name="IDCardID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Number" Type="Edm.String"/>
            <Property Name="PersonID" Type="Edm.Int32"/>
            <NavigationProperty Name="Person" Relationship="Shop.Person_IDCard" FromRole="IDCard" ToRole="Person"/>
          </EntityType>
          <EntityType Name="Supplier">
            <Key><PropertyRef Name="SupplierID"/></Key>
            <Property Name="SupplierID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Name" Type="Edm.String"/>
            <NavigationProperty Name="Products" Relationship="Shop.Supplier_Product"
                FromRole="Supplier" ToRole="Product"/>
          </EntityType>
          <EntityType Name="Product">
            <Key><PropertyRef Name="ProductID"/></Key>
            <Property Name="ProductID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Name" Type="Edm.String"/>
            <Property Name="Price" Type="Edm.Decimal" Precision="10" Scale="2"/>
            <NavigationProperty Name="Suppliers" Relationship="Shop.Supplier_Product"
                FromRole="Product" ToRole="Supplier"/>
          </EntityType>
          <EntityType Name="Visit">
            <Key><PropertyRef Name="VisitID"/></Key>
            <Property Name="VisitID" Type="Edm.Guid" Nullable="false"/>
            <Property Name="Subject" Type="Edm.String"/>
            <Property Name="Start" Type="Edm.DateTimeOffset" Precision="7"/>
            <Property Name="Duration" Type="Edm.Time" Precision="7"/>
          </EntityType>
          <EntityType Name="Photo" m:HasStream="true">
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
          <Association Name="Customer_Order">
            <End Role="Customer" Type="Shop.Customer" Multiplicity="0..1"/>
            <End Role="Order" Type="Shop.Order" Multiplicity="*"/>
            <ReferentialConstraint>
              <Principal Role="Customer"><PropertyRef Name="CustomerID"/></Principal>
              <Dependent Role="Order"><PropertyRef Name="CustomerID"/></Dependent>
            </ReferentialConstraint>
          </Association>
          <Association Name="Owner_Car">
            <End Role="Owner" Type="Shop.Owner" Multiplicity="1"/>
            <End Role="Car" Type="Shop.Car" Multiplicity="1"/>
            <ReferentialConstraint>
              <Principal Role="Owner"><PropertyRef Name="OwnerID"/></Principal>
              <Dependent Role="Car"><PropertyRef Name="OwnerID"/></Dependent>
            </ReferentialConstraint>
          </Association>
          <Association Name="City_Mayor">
            <End Role="City" Type="Shop.City" Multiplicity="1"/>
            <End Role="Mayor" Type="Shop.Mayor" Multiplicity="0..1"/>
            <ReferentialConstraint>
              <Principal Role="City"><PropertyRef Name="CityID"/></Principal>
              <Dependent Role="Mayor"><PropertyRef Name="CityID"/></Dependent>
            </ReferentialConstraint>
          </Association>
          <Association Name="Father_Child">
            <End Role="Father" Type="Shop.Father" Multiplicity="1"/>
            <End Role="Child" Type="Shop.Child" Multiplicity="*"/>
            <ReferentialConstraint>
              <Principal Role="Father"><PropertyRef Name="FatherID"/></Principal>
              <Dependent Role="Child"><PropertyRef Name="FatherID"/></Dependent>
            </ReferentialConstraint>
          </Association>
          <Association Name="Person_IDCard">
            <End Role="Person" Type="Shop.Person" Multiplicity="0..1"/>
            <End Role="IDCard" Type="Shop.IDCard" Multiplicity="0..1"/>
            <ReferentialConstraint>
              <Principal Role="Person"><PropertyRef Name="PersonID"/></Principal>
              <Dependent Role="IDCard"><PropertyRef Name="PersonID"/></Dependent>
            </ReferentialConstraint>
          </Association>
          <Association Name="Supplier_Product">
            <End Role="Supplier" Type="Shop.Supplier" Multiplicity="*"/>
            <End Role="Product" Type="Shop.Product" Multiplicity="*"/>
          </Association>
          <EntityContainer Name="Container" m:IsDefaultEntityContainer="true">
            <EntitySet Name="Customers" EntityType="Shop.Customer"/>
            <EntitySet Name="Orders" EntityType="Shop.Order"/>
            <EntitySet Name="Owners" EntityType="Shop.Owner"/>
            <EntitySet Name="Cars" EntityType="Shop.Car"/>
            <EntitySet Name="Cities" EntityType="Shop.City"/>
            <EntitySet Name="Mayors" EntityType="Shop.Mayor"/>
            <EntitySet Name="Fathers" EntityType="Shop.Father"/>
            <EntitySet Name="Children" EntityType="Shop.Child"/>
            <EntitySet Name="Persons" EntityType="Shop.Person"/>
            <EntitySet Name="IDCards" EntityType="Shop.IDCard"/>
            <EntitySet Name="Suppliers" EntityType="Shop.Supplier"/>
            <EntitySet Name="Products" EntityType="Shop.Product"/>
            <EntitySet Name="Visits" EntityType="Shop.Visit"/>
            <EntitySet Name="Photos" EntityType="Shop.Photo"/>
            <EntitySet Name="Prices" EntityType="Shop.Price"/>
            <AssociationSet Name="Customer_Order" Association="Shop.Customer_Order">
              <End Role="Customer" EntitySet="Customers"/>
              <End Role="Order" EntitySet="Orders"/>
            </AssociationSet>
            <AssociationSet Name="Owner_Car" Association="Shop.Owner_Car">
              <End Role="Owner" EntitySet="Owners"/>
              <End Role="Car" EntitySet="Cars"/>
            </AssociationSet>
            <AssociationSet Name="City_Mayor" Association="Shop.City_Mayor">
              <End Role="City" EntitySet="Cities"/>
              <End Role="Mayor" EntitySet="Mayors"/>
            </AssociationSet>
            <AssociationSet Name="Father_Child" Association="Shop.Father_Child">
              <End Role="Father" EntitySet="Fathers"/>
              <End Role="Child" EntitySet="Children"/>
            </AssociationSet>
            <AssociationSet Name="Person_IDCard" Association="Shop.Person_IDCard">
              <End Role="Person" EntitySet="Persons"/>
              <End Role="IDCard" EntitySet="IDCards"/>
            </AssociationSet>
            <AssociationSet Name="Supplier_Product" Association="Shop.Supplier_Product">
              <End Role="Supplier" EntitySet="Suppliers"/>
              <End Role="Product" EntitySet="Products"/>
            </AssociationSet>
            <FunctionImport Name="TopCustomers" ReturnType="Collection(Shop.Customer)" EntitySet="Customers"
                m:HttpMethod="GET">
              <Parameter Name="count" Type="Edm.Int32" Nullable="false"/>
            </FunctionImport>
            <FunctionImport Name="Turnover" ReturnType="Edm.Int64" m:HttpMethod="GET">
              <Parameter Name="customer" Type="Edm.Int32" Nullable="false"/>
            </FunctionImport>
            <FunctionImport Name="CancelOrder" m:HttpMethod="POST">
              <Parameter Name="order" Type="Edm.Int32" Nullable="false"/>
            </FunctionImport>
          </EntityContainer>
        </Schema>
          </edmx:DataServices>
        </edmx:Edmx>

        """
}
