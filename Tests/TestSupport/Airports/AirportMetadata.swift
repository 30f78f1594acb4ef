/// A service with functions and actions of every kind.
package enum AirportMetadata {
    package static let v4 = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Air" Alias="Self" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EnumType Name="Size"><Member Name="Small" Value="0"/><Member Name="Large" Value="1"/></EnumType>
          <ComplexType Name="Place">
            <Property Name="City" Type="Edm.String"/>
            <Property Name="Latitude" Type="Edm.Double"/>
            <Property Name="Longitude" Type="Edm.Double"/>
          </ComplexType>
          <EntityType Name="Airport">
            <Key><PropertyRef Name="Code"/></Key>
            <Property Name="Code" Type="Edm.String" Nullable="false" MaxLength="4"/>
            <Property Name="Name" Type="Edm.String"/>
            <Property Name="Size" Type="Air.Size"/>
            <Property Name="Place" Type="Air.Place"/>
            <NavigationProperty Name="Departures" Type="Collection(Air.Flight)" Partner="From"/>
          </EntityType>
          <EntityType Name="Flight">
            <Key><PropertyRef Name="FlightID"/></Key>
            <Property Name="FlightID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Number" Type="Edm.String"/>
            <Property Name="Seats" Type="Edm.Int32"/>
            <NavigationProperty Name="From" Type="Air.Airport" Partner="Departures"/>
          </EntityType>
          <Function Name="Nearest">
            <Parameter Name="lat" Type="Edm.Double" Nullable="false"/>
            <Parameter Name="lon" Type="Edm.Double" Nullable="false"/>
            <ReturnType Type="Air.Airport"/>
          </Function>
          <Function Name="Nearest">
            <Parameter Name="lat" Type="Edm.Double" Nullable="false"/>
            <Parameter Name="lon" Type="Edm.Double" Nullable="false"/>
            <Parameter Name="size" Type="Air.Size" Nullable="false"/>
            <ReturnType Type="Air.Airport"/>
          </Function>
          <Function Name="AirportsIn" IsComposable="true">
            <Parameter Name="cities" Type="Collection(Edm.String)" Nullable="false"/>
            <ReturnType Type="Collection(Air.Airport)"/>
          </Function>
          <Function Name="Distance">
            <Parameter Name="from" Type="Air.Airport" Nullable="false"/>
            <Parameter Name="to" Type="Air.Airport"/>
            <ReturnType Type="Edm.Double"/>
          </Function>
          <Function Name="Describe">
            <Parameter Name="place" Type="Air.Place"/>
            <ReturnType Type="Edm.String"/>
          </Function>
          <Function Name="Echo">
            <Parameter Name="text" Type="Edm.String" MaxLength="1000"/>
            <ReturnType Type="Edm.String"/>
          </Function>
          <Function Name="EchoBytes">
            <Parameter Name="bytes" Type="Edm.Binary"/>
            <ReturnType Type="Edm.Binary"/>
          </Function>
          <Function Name="Names"><ReturnType Type="Collection(Edm.String)"/></Function>
          <Function Name="Center"><ReturnType Type="Air.Place"/></Function>
          <Function Name="UsualSize"><ReturnType Type="Air.Size"/></Function>
          <Function Name="Departures" IsBound="true" EntitySetPath="airport/Departures">
            <Parameter Name="airport" Type="Air.Airport" Nullable="false"/>
            <Parameter Name="seats" Type="Edm.Int32" Nullable="false"/>
            <ReturnType Type="Collection(Air.Flight)"/>
          </Function>
          <Function Name="First" IsBound="true" EntitySetPath="airports">
            <Parameter Name="airports" Type="Collection(Air.Airport)" Nullable="false"/>
            <ReturnType Type="Air.Airport"/>
          </Function>
          <Function Name="First" IsBound="true" EntitySetPath="flights">
            <Parameter Name="flights" Type="Collection(Air.Flight)" Nullable="false"/>
            <ReturnType Type="Air.Flight"/>
          </Function>
          <Action Name="Close"/>
          <Action Name="Open">
            <Parameter Name="code" Type="Edm.String" Nullable="false" MaxLength="4"/>
            <Parameter Name="name" Type="Edm.String"/>
            <Parameter Name="place" Type="Air.Place"/>
            <ReturnType Type="Air.Airport"/>
          </Action>
          <Action Name="Book" IsBound="true">
            <Parameter Name="flight" Type="Air.Flight" Nullable="false"/>
            <Parameter Name="seats" Type="Edm.Int32" Nullable="false"/>
            <ReturnType Type="Edm.Int32"/>
          </Action>
          <EntityContainer Name="Container">
            <EntitySet Name="Airports" EntityType="Air.Airport">
              <NavigationPropertyBinding Path="Departures" Target="Flights"/>
            </EntitySet>
            <EntitySet Name="Flights" EntityType="Air.Flight">
              <NavigationPropertyBinding Path="From" Target="Airports"/>
            </EntitySet>
            <FunctionImport Name="Nearest" Function="Air.Nearest" EntitySet="Airports"/>
            <FunctionImport Name="AirportsIn" Function="Air.AirportsIn"/>
            <FunctionImport Name="Distance" Function="Air.Distance"/>
            <FunctionImport Name="Describe" Function="Air.Describe"/>
            <FunctionImport Name="Echo" Function="Air.Echo"/>
            <FunctionImport Name="EchoBytes" Function="Air.EchoBytes"/>
            <FunctionImport Name="Names" Function="Air.Names"/>
            <FunctionImport Name="Center" Function="Air.Center"/>
            <FunctionImport Name="UsualSize" Function="Air.UsualSize"/>
            <ActionImport Name="Close" Action="Air.Close"/>
            <ActionImport Name="Open" Action="Air.Open" EntitySet="Airports"/>
          </EntityContainer>
        </Schema>
        </edmx:DataServices></edmx:Edmx>
        """

    package static let v2 = """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
            xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <edmx:DataServices m:DataServiceVersion="2.0">
        <Schema Namespace="Air" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
          <ComplexType Name="Place">
            <Property Name="City" Type="Edm.String"/>
            <Property Name="Latitude" Type="Edm.Double"/>
            <Property Name="Longitude" Type="Edm.Double"/>
          </ComplexType>
          <EntityType Name="Airport">
            <Key><PropertyRef Name="Code"/></Key>
            <Property Name="Code" Type="Edm.String" Nullable="false" MaxLength="4"/>
            <Property Name="Name" Type="Edm.String"/>
            <Property Name="Place" Type="Air.Place"/>
            <NavigationProperty Name="Departures" Relationship="Air.Departures" FromRole="From" ToRole="Flight"/>
          </EntityType>
          <EntityType Name="Flight">
            <Key><PropertyRef Name="FlightID"/></Key>
            <Property Name="FlightID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Number" Type="Edm.String"/>
            <Property Name="Seats" Type="Edm.Int32"/>
            <NavigationProperty Name="From" Relationship="Air.Departures" FromRole="Flight" ToRole="From"/>
          </EntityType>
          <Association Name="Departures">
            <End Role="From" Type="Air.Airport" Multiplicity="0..1"/>
            <End Role="Flight" Type="Air.Flight" Multiplicity="*"/>
          </Association>
          <EntityContainer Name="Container" m:IsDefaultEntityContainer="true">
            <EntitySet Name="Airports" EntityType="Air.Airport"/>
            <EntitySet Name="Flights" EntityType="Air.Flight"/>
            <AssociationSet Name="Departures" Association="Air.Departures">
              <End Role="From" EntitySet="Airports"/>
              <End Role="Flight" EntitySet="Flights"/>
            </AssociationSet>
            <FunctionImport Name="Nearest" ReturnType="Air.Airport" EntitySet="Airports" m:HttpMethod="GET">
              <Parameter Name="lat" Type="Edm.Double" Nullable="false"/>
              <Parameter Name="lon" Type="Edm.Double" Nullable="false"/>
            </FunctionImport>
            <FunctionImport Name="AirportsIn" ReturnType="Collection(Air.Airport)" EntitySet="Airports"
                m:HttpMethod="GET">
              <Parameter Name="city" Type="Edm.String"/>
            </FunctionImport>
            <FunctionImport Name="Echo" ReturnType="Edm.String" m:HttpMethod="GET">
              <Parameter Name="text" Type="Edm.String"/>
            </FunctionImport>
            <FunctionImport Name="EchoBytes" ReturnType="Edm.Binary" m:HttpMethod="GET">
              <Parameter Name="bytes" Type="Edm.Binary"/>
            </FunctionImport>
            <FunctionImport Name="Names" ReturnType="Collection(Edm.String)" m:HttpMethod="GET"/>
            <FunctionImport Name="Center" ReturnType="Air.Place"/>
            <FunctionImport Name="Close" m:HttpMethod="POST"/>
            <FunctionImport Name="Open" ReturnType="Air.Airport" EntitySet="Airports" m:HttpMethod="POST">
              <Parameter Name="code" Type="Edm.String" Nullable="false" MaxLength="4"/>
              <Parameter Name="name" Type="Edm.String"/>
            </FunctionImport>
          </EntityContainer>
        </Schema>
        </edmx:DataServices></edmx:Edmx>
        """
}
