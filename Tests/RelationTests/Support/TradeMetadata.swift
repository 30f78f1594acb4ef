import Tidelog

/// Customers and orders with two to-one relations to the same type, teachers and students, persons and passports.
enum TradeMetadata {
    static let embedded = EmbeddedMetadata(document)

    static let document = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Trade" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Customer">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Name" Type="Edm.String"/>
            <NavigationProperty Name="OwnedOrders" Type="Collection(Trade.Order)" Partner="Owner"/>
          </EntityType>
          <EntityType Name="Order">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Total" Type="Edm.Decimal" Scale="2"/>
            <NavigationProperty Name="Owner" Type="Trade.Customer" Partner="OwnedOrders"/>
            <NavigationProperty Name="Recipient" Type="Trade.Customer"/>
          </EntityType>
          <EntityType Name="Visit">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="CustomerID" Type="Edm.Int32"/>
            <NavigationProperty Name="Customer" Type="Trade.Customer">
              <ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/>
            </NavigationProperty>
          </EntityType>
          <EntityType Name="Teacher">
            <Key><PropertyRef Name="Name"/></Key>
            <Property Name="Name" Type="Edm.String" Nullable="false"/>
            <NavigationProperty Name="Students" Type="Collection(Trade.Student)" Partner="Teachers"/>
          </EntityType>
          <EntityType Name="Student">
            <Key><PropertyRef Name="Name"/></Key>
            <Property Name="Name" Type="Edm.String" Nullable="false"/>
            <NavigationProperty Name="Teachers" Type="Collection(Trade.Teacher)" Partner="Students"/>
            <NavigationProperty Name="Friends" Type="Collection(Trade.Student)"/>
          </EntityType>
          <EntityType Name="Person">
            <Key><PropertyRef Name="Name"/></Key>
            <Property Name="Name" Type="Edm.String" Nullable="false"/>
            <NavigationProperty Name="Passport" Type="Trade.Passport" Partner="Holder"/>
            <NavigationProperty Name="Manager" Type="Trade.Person" Partner="Reports"/>
            <NavigationProperty Name="Reports" Type="Collection(Trade.Person)" Partner="Manager"/>
            <NavigationProperty Name="Spouse" Type="Trade.Person" Partner="Spouse"/>
          </EntityType>
          <EntityType Name="Employee" BaseType="Trade.Person">
            <Property Name="Salary" Type="Edm.Int32"/>
          </EntityType>
          <EntityType Name="Passport">
            <Key><PropertyRef Name="Number"/></Key>
            <Property Name="Number" Type="Edm.String" Nullable="false"/>
            <NavigationProperty Name="Holder" Type="Trade.Person" Partner="Passport"/>
          </EntityType>
          <EntityContainer Name="TradeService">
            <EntitySet Name="Customers" EntityType="Trade.Customer">
              <NavigationPropertyBinding Path="OwnedOrders" Target="Orders"/>
            </EntitySet>
            <EntitySet Name="Orders" EntityType="Trade.Order">
              <NavigationPropertyBinding Path="Owner" Target="Customers"/>
              <NavigationPropertyBinding Path="Recipient" Target="Customers"/>
            </EntitySet>
            <EntitySet Name="Visits" EntityType="Trade.Visit">
              <NavigationPropertyBinding Path="Customer" Target="Customers"/>
            </EntitySet>
            <EntitySet Name="Teachers" EntityType="Trade.Teacher">
              <NavigationPropertyBinding Path="Students" Target="Students"/>
            </EntitySet>
            <EntitySet Name="Students" EntityType="Trade.Student">
              <NavigationPropertyBinding Path="Teachers" Target="Teachers"/>
              <NavigationPropertyBinding Path="Friends" Target="Students"/>
            </EntitySet>
            <EntitySet Name="People" EntityType="Trade.Person">
              <NavigationPropertyBinding Path="Passport" Target="Passports"/>
              <NavigationPropertyBinding Path="Manager" Target="People"/>
              <NavigationPropertyBinding Path="Reports" Target="People"/>
              <NavigationPropertyBinding Path="Spouse" Target="People"/>
            </EntitySet>
            <EntitySet Name="Passports" EntityType="Trade.Passport">
              <NavigationPropertyBinding Path="Holder" Target="People"/>
            </EntitySet>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
}
