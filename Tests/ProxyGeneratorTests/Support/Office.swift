/// A service with all features of types. The sources in `GeneratedOffice` are generated from its metadata.
enum Office {
    static let metadata = """
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
          <edmx:DataServices>
            <Schema Namespace="Office" xmlns="http://docs.oasis-open.org/odata/ns/edm">
              <TypeDefinition Name="Money" UnderlyingType="Edm.Decimal" Scale="2"/>
              <EnumType Name="Status">
                <Annotation Term="Org.OData.Core.V1.Description" String="The employment of a person."/>
                <Member Name="Active" Value="0"/>
                <Member Name="OnLeave" Value="5"/>
                <Member Name="Away" Value="5"/>
                <Member Name="None" Value="-1"/>
                <Member Name="default" Value="7"/>
              </EnumType>
              <EnumType Name="Rights" UnderlyingType="Edm.Int64" IsFlags="true">
                <Member Name="Read" Value="1"/>
                <Member Name="Write" Value="2"/>
                <Member Name="Print" Value="4"/>
                <Member Name="Edit" Value="3"/>
                <Member Name="Sign" Value="4294967296"/>
              </EnumType>
              <ComplexType Name="Address">
                <Property Name="Street" Type="Edm.String"/>
                <Property Name="City" Type="Edm.String" Nullable="false"/>
                <Property Name="Floor" Type="Edm.Int16" Nullable="false" DefaultValue="1"/>
              </ComplexType>
              <ComplexType Name="CompanyAddress" BaseType="Office.Address">
                <Property Name="Company" Type="Edm.String"/>
                <NavigationProperty Name="Room" Type="Office.Room"/>
              </ComplexType>
              <ComplexType Name="Extras" OpenType="true"/>
              <EntityType Name="Person" Abstract="true">
                <Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="Name" Type="Edm.String" Nullable="false" MaxLength="40">
                  <Annotation Term="Org.OData.Core.V1.Description" String="The name on the badge,&#10;*/ whatever } it is."/>
                </Property>
                <Property Name="Status" Type="Office.Status" Nullable="false" DefaultValue="OnLeave"/>
                <Property Name="Rights" Type="Office.Rights"/>
                <Property Name="Home" Type="Office.Address" Nullable="false"/>
                <Property Name="Addresses" Type="Collection(Office.Address)" Nullable="false"/>
                <Property Name="Nicknames" Type="Collection(Edm.String)" Nullable="false"/>
                <Property Name="Keys" Type="Collection(Edm.Binary)"/>
                <Property Name="Born" Type="Edm.Date" Nullable="false"/>
                <Property Name="Photo" Type="Edm.Stream"/>
                <Property Name="Extras" Type="Office.Extras"/>
              </EntityType>
              <EntityType Name="Employee" BaseType="Office.Person">
                <Property Name="Salary" Type="Office.Money" Nullable="false"/>
                <NavigationProperty Name="Manager" Type="Office.Employee" Partner="Reports"/>
                <NavigationProperty Name="Reports" Type="Collection(Office.Employee)" Partner="Manager"/>
                <NavigationProperty Name="Elsewhere" Type="Edm.EntityType"/>
              </EntityType>
              <EntityType Name="Room" OpenType="true">
                <Key><PropertyRef Name="Building"/><PropertyRef Name="Number"/></Key>
                <Property Name="Building" Type="Edm.String" Nullable="false"/>
                <Property Name="Number" Type="Edm.Int32" Nullable="false"/>
              </EntityType>
              <Function Name="Nearest">
                <Parameter Name="to" Type="Office.Address" Nullable="false"/>
                <Parameter Name="most" Type="Edm.Int32"/>
                <ReturnType Type="Collection(Office.Room)"/>
              </Function>
              <Function Name="Nearest">
                <Parameter Name="building" Type="Edm.String" Nullable="false"/>
                <ReturnType Type="Office.Room"/>
              </Function>
              <Action Name="Close"/>
              <Action Name="Raise" IsBound="true">
                <Parameter Name="employee" Type="Office.Employee"/>
                <Parameter Name="by" Type="Office.Money" Nullable="false"/>
                <Parameter Name="witnesses" Type="Collection(Office.Employee)"/>
                <ReturnType Type="Office.Employee" Nullable="false"/>
              </Action>
              <Function Name="Payroll" IsBound="true">
                <Parameter Name="employees" Type="Collection(Office.Employee)"/>
                <ReturnType Type="Office.Money" Nullable="false"/>
              </Function>
              <EntityContainer Name="Container">
                <EntitySet Name="People" EntityType="Office.Person"/>
                <EntitySet Name="Rooms" EntityType="Office.Room"/>
                <Singleton Name="Boss" Type="Office.Employee"/>
                <FunctionImport Name="Nearest" Function="Office.Nearest" EntitySet="Rooms"/>
                <ActionImport Name="Close" Action="Office.Close"/>
              </EntityContainer>
            </Schema>
          </edmx:DataServices>
        </edmx:Edmx>
        """
}
