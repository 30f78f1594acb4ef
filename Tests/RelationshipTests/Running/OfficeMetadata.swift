/// One model in V4 and V2: documents have items, items have remarks. Documents also have stamps, which can exist
/// without a document.
enum OfficeMetadata {
    /// Returns the metadata in V4.
    ///
    /// - Parameter cascades: Whether items and remarks are deleted with their parents.
    static func v4(cascades: Bool) -> String {
        let onDelete = cascades ? #"<OnDelete Action="Cascade"/>"# : ""
        return """
            <?xml version="1.0" encoding="utf-8"?>
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
              <edmx:DataServices>
                <Schema Namespace="Office" xmlns="http://docs.oasis-open.org/odata/ns/edm">
                  <EntityType Name="Document">
                    <Key><PropertyRef Name="DocumentID"/></Key>
                    <Property Name="DocumentID" Type="Edm.Int32" Nullable="false"/>
                    <NavigationProperty Name="Items" Type="Collection(Office.Item)" Partner="Document">
                      \(onDelete)
                    </NavigationProperty>
                    <NavigationProperty Name="Stamps" Type="Collection(Office.Stamp)" Partner="Document"/>
                  </EntityType>
                  <EntityType Name="Item">
                    <Key><PropertyRef Name="ItemID"/></Key>
                    <Property Name="ItemID" Type="Edm.Int32" Nullable="false"/>
                    <Property Name="DocumentID" Type="Edm.Int32"/>
                    <NavigationProperty Name="Document" Type="Office.Document" Nullable="false" Partner="Items">
                      <ReferentialConstraint Property="DocumentID" ReferencedProperty="DocumentID"/>
                    </NavigationProperty>
                    <NavigationProperty Name="Remarks" Type="Collection(Office.Remark)" Partner="Item">
                      \(onDelete)
                    </NavigationProperty>
                  </EntityType>
                  <EntityType Name="Remark">
                    <Key><PropertyRef Name="RemarkID"/></Key>
                    <Property Name="RemarkID" Type="Edm.Int32" Nullable="false"/>
                    <Property Name="ItemID" Type="Edm.Int32"/>
                    <NavigationProperty Name="Item" Type="Office.Item" Nullable="false" Partner="Remarks">
                      <ReferentialConstraint Property="ItemID" ReferencedProperty="ItemID"/>
                    </NavigationProperty>
                  </EntityType>
                  <EntityType Name="Stamp">
                    <Key><PropertyRef Name="StampID"/></Key>
                    <Property Name="StampID" Type="Edm.Int32" Nullable="false"/>
                    <Property Name="DocumentID" Type="Edm.Int32"/>
                    <NavigationProperty Name="Document" Type="Office.Document" Nullable="true" Partner="Stamps">
                      <ReferentialConstraint Property="DocumentID" ReferencedProperty="DocumentID"/>
                    </NavigationProperty>
                  </EntityType>
                  <EntityContainer Name="Container">
                    <EntitySet Name="Documents" EntityType="Office.Document">
                      <NavigationPropertyBinding Path="Items" Target="Items"/>
                      <NavigationPropertyBinding Path="Stamps" Target="Stamps"/>
                    </EntitySet>
                    <EntitySet Name="Items" EntityType="Office.Item">
                      <NavigationPropertyBinding Path="Document" Target="Documents"/>
                      <NavigationPropertyBinding Path="Remarks" Target="Remarks"/>
                    </EntitySet>
                    <EntitySet Name="Remarks" EntityType="Office.Remark">
                      <NavigationPropertyBinding Path="Item" Target="Items"/>
                    </EntitySet>
                    <EntitySet Name="Stamps" EntityType="Office.Stamp">
                      <NavigationPropertyBinding Path="Document" Target="Documents"/>
                    </EntitySet>
                  </EntityContainer>
                </Schema>
              </edmx:DataServices>
            </edmx:Edmx>
            """
    }

    static func v2(cascades: Bool) -> String {
        let onDelete = cascades ? #"<OnDelete Action="Cascade"/>"# : ""
        return """
            <?xml version="1.0" encoding="utf-8"?>
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
              <edmx:DataServices m:DataServiceVersion="2.0"
                  xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
                <Schema Namespace="Office" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
                  <EntityType Name="Document">
                    <Key><PropertyRef Name="DocumentID"/></Key>
                    <Property Name="DocumentID" Type="Edm.Int32" Nullable="false"/>
                    <NavigationProperty Name="Items" Relationship="Office.Document_Item"
                        FromRole="Document" ToRole="Item"/>
                    <NavigationProperty Name="Stamps" Relationship="Office.Document_Stamp"
                        FromRole="Document" ToRole="Stamp"/>
                  </EntityType>
                  <EntityType Name="Item">
                    <Key><PropertyRef Name="ItemID"/></Key>
                    <Property Name="ItemID" Type="Edm.Int32" Nullable="false"/>
                    <Property Name="DocumentID" Type="Edm.Int32"/>
                    <NavigationProperty Name="Document" Relationship="Office.Document_Item"
                        FromRole="Item" ToRole="Document"/>
                    <NavigationProperty Name="Remarks" Relationship="Office.Item_Remark"
                        FromRole="Item" ToRole="Remark"/>
                  </EntityType>
                  <EntityType Name="Remark">
                    <Key><PropertyRef Name="RemarkID"/></Key>
                    <Property Name="RemarkID" Type="Edm.Int32" Nullable="false"/>
                    <Property Name="ItemID" Type="Edm.Int32"/>
                    <NavigationProperty Name="Item" Relationship="Office.Item_Remark"
                        FromRole="Remark" ToRole="Item"/>
                  </EntityType>
                  <EntityType Name="Stamp">
                    <Key><PropertyRef Name="StampID"/></Key>
                    <Property Name="StampID" Type="Edm.Int32" Nullable="false"/>
                    <Property Name="DocumentID" Type="Edm.Int32"/>
                    <NavigationProperty Name="Document" Relationship="Office.Document_Stamp"
                        FromRole="Stamp" ToRole="Document"/>
                  </EntityType>
                  <Association Name="Document_Item">
                    <End Role="Document" Type="Office.Document" Multiplicity="1">\(onDelete)</End>
                    <End Role="Item" Type="Office.Item" Multiplicity="*"/>
                    <ReferentialConstraint>
                      <Principal Role="Document"><PropertyRef Name="DocumentID"/></Principal>
                      <Dependent Role="Item"><PropertyRef Name="DocumentID"/></Dependent>
                    </ReferentialConstraint>
                  </Association>
                  <Association Name="Item_Remark">
                    <End Role="Item" Type="Office.Item" Multiplicity="1">\(onDelete)</End>
                    <End Role="Remark" Type="Office.Remark" Multiplicity="*"/>
                    <ReferentialConstraint>
                      <Principal Role="Item"><PropertyRef Name="ItemID"/></Principal>
                      <Dependent Role="Remark"><PropertyRef Name="ItemID"/></Dependent>
                    </ReferentialConstraint>
                  </Association>
                  <Association Name="Document_Stamp">
                    <End Role="Document" Type="Office.Document" Multiplicity="0..1"/>
                    <End Role="Stamp" Type="Office.Stamp" Multiplicity="*"/>
                    <ReferentialConstraint>
                      <Principal Role="Document"><PropertyRef Name="DocumentID"/></Principal>
                      <Dependent Role="Stamp"><PropertyRef Name="DocumentID"/></Dependent>
                    </ReferentialConstraint>
                  </Association>
                  <EntityContainer Name="Container" m:IsDefaultEntityContainer="true">
                    <EntitySet Name="Documents" EntityType="Office.Document"/>
                    <EntitySet Name="Items" EntityType="Office.Item"/>
                    <EntitySet Name="Remarks" EntityType="Office.Remark"/>
                    <EntitySet Name="Stamps" EntityType="Office.Stamp"/>
                    <AssociationSet Name="Document_Item" Association="Office.Document_Item">
                      <End Role="Document" EntitySet="Documents"/>
                      <End Role="Item" EntitySet="Items"/>
                    </AssociationSet>
                    <AssociationSet Name="Item_Remark" Association="Office.Item_Remark">
                      <End Role="Item" EntitySet="Items"/>
                      <End Role="Remark" EntitySet="Remarks"/>
                    </AssociationSet>
                    <AssociationSet Name="Document_Stamp" Association="Office.Document_Stamp">
                      <End Role="Document" EntitySet="Documents"/>
                      <End Role="Stamp" EntitySet="Stamps"/>
                    </AssociationSet>
                  </EntityContainer>
                </Schema>
              </edmx:DataServices>
            </edmx:Edmx>
            """
    }
}
