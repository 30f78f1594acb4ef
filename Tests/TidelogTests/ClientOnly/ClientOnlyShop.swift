import Tidelog

/// Additions of an app to the metadata of the Shop.
enum ClientOnlyShop {
    /// A local type with a relation to customers, a local property of customers, and sets of drafts.
    static let additions = document(
        """
        <EntityType Name="Memo">
          <Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          <Property Name="Text" Type="Edm.String"/>
          <NavigationProperty Name="Customer" Type="Shop.Customer" Partner="Memos"/>
        </EntityType>
        <EntityType Name="Customer">
          <Property Name="Color" Type="Edm.String"/>
          <NavigationProperty Name="Memos" Type="Collection(Shop.Memo)" Partner="Customer"/>
        </EntityType>
        <EntityContainer Name="Local">
          <EntitySet Name="Memos" EntityType="Shop.Memo"/>
          <EntitySet Name="CustomerDrafts" EntityType="Shop.Customer">
            <Annotation Term="com.sap.vocabularies.Offline.v1.LocalDraft" String="Customers"/>
            <NavigationPropertyBinding Path="Orders" Target="OrderDrafts"/>
          </EntitySet>
          <EntitySet Name="OrderDrafts" EntityType="Shop.Order">
            <Annotation Term="com.sap.vocabularies.Offline.v1.LocalDraft" String="Orders"/>
            <NavigationPropertyBinding Path="Customer" Target="CustomerDrafts"/>
          </EntitySet>
        </EntityContainer>
        """)

    static func document(_ content: String) -> String {
        """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
        \(content)
        </Schema></edmx:DataServices></edmx:Edmx>
        """
    }

    static func shop(
        _ client: Client, _ additions: String = additions, adjusting: (inout OfflineODataParameters) -> Void = { _ in }
    ) async throws -> Shop {
        try await Shop(client) { parameters in
            parameters.clientOnlyMetadata = additions
            adjusting(&parameters)
        }
    }
}
