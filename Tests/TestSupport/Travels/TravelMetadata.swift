/// A service with drafts in the manner of SAP: a POST creates a draft, and `draftActivate` replaces it by the active
/// entity under another key.
package enum TravelMetadata {
    package static let v4 = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Trip" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Travel">
            <Key><PropertyRef Name="TravelID"/><PropertyRef Name="IsActiveEntity"/></Key>
            <Property Name="TravelID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="IsActiveEntity" Type="Edm.Boolean" Nullable="false"/>
            <Property Name="Description" Type="Edm.String" MaxLength="40"/>
            <Property Name="Status" Type="Edm.String" MaxLength="1"/>
            <Property Name="Seats" Type="Edm.Int32"/>
          </EntityType>
          <Action Name="draftActivate" IsBound="true" EntitySetPath="in">
            <Parameter Name="in" Type="Trip.Travel" Nullable="false"/>
            <ReturnType Type="Trip.Travel"/>
          </Action>
          <Action Name="draftEdit" IsBound="true" EntitySetPath="in">
            <Parameter Name="in" Type="Trip.Travel" Nullable="false"/>
            <Parameter Name="PreserveChanges" Type="Edm.Boolean"/>
            <ReturnType Type="Trip.Travel"/>
          </Action>
          <Action Name="Discard" IsBound="true">
            <Parameter Name="in" Type="Trip.Travel" Nullable="false"/>
          </Action>
          <Action Name="accept" IsBound="true">
            <Parameter Name="in" Type="Trip.Travel" Nullable="false"/>
          </Action>
          <Action Name="reserve" IsBound="true">
            <Parameter Name="in" Type="Trip.Travel" Nullable="false"/>
            <Parameter Name="seats" Type="Edm.Int32" Nullable="false"/>
            <ReturnType Type="Edm.Int32"/>
          </Action>
          <Action Name="copyFrom" IsBound="true" EntitySetPath="in">
            <Parameter Name="in" Type="Trip.Travel" Nullable="false"/>
            <Parameter Name="other" Type="Trip.Travel" Nullable="false"/>
            <ReturnType Type="Trip.Travel"/>
          </Action>
          <Action Name="clone" IsBound="true" EntitySetPath="in">
            <Parameter Name="in" Type="Collection(Trip.Travel)" Nullable="false"/>
            <Parameter Name="from" Type="Edm.Int32" Nullable="false"/>
            <ReturnType Type="Collection(Trip.Travel)"/>
          </Action>
          <EntityType Name="Mark">
            <Key><PropertyRef Name="MarkID"/></Key>
            <Property Name="MarkID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Text" Type="Edm.String"/>
          </EntityType>
          <Action Name="note" IsBound="true">
            <Parameter Name="in" Type="Trip.Travel" Nullable="false"/>
            <Parameter Name="text" Type="Edm.String" Nullable="false"/>
          </Action>
          <Action Name="Mark">
            <Parameter Name="text" Type="Edm.String" Nullable="false"/>
            <ReturnType Type="Trip.Mark"/>
          </Action>
          <Action Name="CloseYear"><Parameter Name="year" Type="Edm.Int32" Nullable="false"/></Action>
          <Function Name="Total"><ReturnType Type="Edm.Int32"/></Function>
          <EntityContainer Name="Container">
            <EntitySet Name="Travels" EntityType="Trip.Travel"/>
            <EntitySet Name="Marks" EntityType="Trip.Mark"/>
            <ActionImport Name="Mark" Action="Trip.Mark" EntitySet="Marks"/>
            <ActionImport Name="CloseYear" Action="Trip.CloseYear"/>
            <FunctionImport Name="Total" Function="Trip.Total"/>
          </EntityContainer>
        </Schema>
        </edmx:DataServices></edmx:Edmx>
        """
}
