extension FieldService {
    static let v4 = """
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
        <edmx:DataServices>
        <Schema Namespace="Field" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        \(entity("Customer", key: "Edm.Int32", """
            <NavigationProperty Name="Orders" Type="Collection(Field.Order)" Partner="Customer"/>
            <NavigationProperty Name="Labels" Type="Collection(Field.Label)" Partner="Customers"/>
            """))
        \(entity("Order", key: "Edm.Int32", """
            <Property Name="CustomerID" Type="Edm.Int32"/>
            <NavigationProperty Name="Customer" Type="Field.Customer" Partner="Orders">
            <ReferentialConstraint Property="CustomerID" ReferencedProperty="CustomerID"/>
            </NavigationProperty>
            <NavigationProperty Name="Items" Type="Collection(Field.Item)" Partner="Order"/>
            """))
        \(entity("Item", key: "Edm.Int32", """
            <Property Name="OrderID" Type="Edm.Int32" Nullable="false"/>
            <NavigationProperty Name="Order" Type="Field.Order" Nullable="false" Partner="Items">
            <ReferentialConstraint Property="OrderID" ReferencedProperty="OrderID"/>
            </NavigationProperty>
            """))
        \(entity("Label", key: "Edm.Int32", """
            <NavigationProperty Name="Customers" Type="Collection(Field.Customer)" Partner="Labels"/>
            """))
        \(entity("Visit", key: "Edm.Guid", ""))
        \(notice)
        <Action Name="AddLabel"><Parameter Name="mark" Type="Edm.String" Nullable="false"/></Action>
        <Action Name="Annotate" IsBound="true">
        <Parameter Name="order" Type="Field.Order" Nullable="false"/>
        <Parameter Name="mark" Type="Edm.String" Nullable="false"/>
        <Parameter Name="remark" Type="Edm.String" Nullable="false"/>
        </Action>
        <EntityContainer Name="Container">
        <EntitySet Name="Customers" EntityType="Field.Customer">
        <NavigationPropertyBinding Path="Orders" Target="Orders"/>
        <NavigationPropertyBinding Path="Labels" Target="Labels"/>
        </EntitySet>
        <EntitySet Name="Orders" EntityType="Field.Order">
        <NavigationPropertyBinding Path="Customer" Target="Customers"/>
        <NavigationPropertyBinding Path="Items" Target="Items"/>
        </EntitySet>
        <EntitySet Name="Items" EntityType="Field.Item">
        <NavigationPropertyBinding Path="Order" Target="Orders"/>
        </EntitySet>
        <EntitySet Name="Labels" EntityType="Field.Label">
        <NavigationPropertyBinding Path="Customers" Target="Customers"/>
        </EntitySet>
        <EntitySet Name="Visits" EntityType="Field.Visit"/>
        <EntitySet Name="Notices" EntityType="Field.Notice"/>
        <ActionImport Name="AddLabel" Action="Field.AddLabel"/>
        </EntityContainer>
        </Schema>
        </edmx:DataServices>
        </edmx:Edmx>
        """

    static let v2 = """
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
        <edmx:DataServices m:DataServiceVersion="2.0" \
        xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <Schema Namespace="Field" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
        \(entity("Customer", key: "Edm.Int32", legacy("Orders", "Customer_Order") + legacy("Labels", "Customer_Label")))
        \(entity("Order", key: "Edm.Int32", """
            <Property Name="CustomerID" Type="Edm.Int32"/>
            """ + legacy("Customer", "Customer_Order", forward: false) + legacy("Items", "Order_Item")))
        \(entity("Item", key: "Edm.Int32", """
            <Property Name="OrderID" Type="Edm.Int32" Nullable="false"/>
            """ + legacy("Order", "Order_Item", forward: false)))
        \(entity("Label", key: "Edm.Int32", legacy("Customers", "Customer_Label", forward: false)))
        \(entity("Visit", key: "Edm.Guid", ""))
        \(notice)
        \(association("Customer_Order", "0..1", "*", "CustomerID"))
        \(association("Order_Item", "1", "*", "OrderID"))
        \(association("Customer_Label", "*", "*", nil))
        <EntityContainer Name="Container" m:IsDefaultEntityContainer="true">
        <EntitySet Name="Customers" EntityType="Field.Customer"/>
        <EntitySet Name="Orders" EntityType="Field.Order"/>
        <EntitySet Name="Items" EntityType="Field.Item"/>
        <EntitySet Name="Labels" EntityType="Field.Label"/>
        <EntitySet Name="Visits" EntityType="Field.Visit"/>
        <EntitySet Name="Notices" EntityType="Field.Notice"/>
        \(["Customer_Order", "Order_Item", "Customer_Label"].map(associationSet).joined())
        <FunctionImport Name="AddLabel" m:HttpMethod="POST">
        <Parameter Name="mark" Type="Edm.String" Nullable="false"/>
        </FunctionImport>
        </EntityContainer>
        </Schema>
        </edmx:DataServices>
        </edmx:Edmx>
        """

    /// A type without a key.
    private static let notice = """
        <EntityType Name="Notice"><Property Name="Mark" Type="Edm.String" Nullable="false"/></EntityType>
        """

    private static func entity(_ name: String, key: String, _ rest: String) -> String {
        """
        <EntityType Name="\(name)">
        <Key><PropertyRef Name="\(name)ID"/></Key>
        <Property Name="\(name)ID" Type="\(key)" Nullable="false"/>
        <Property Name="Mark" Type="Edm.String" Nullable="false"/>
        <Property Name="Note" Type="Edm.String"/>
        <Property Name="Remark" Type="Edm.String"/>
        \(rest)
        </EntityType>
        """
    }

    private static func legacy(_ name: String, _ association: String, forward: Bool = true) -> String {
        let ends = association.split(separator: "_")
        let (from, to) = forward ? (ends[0], ends[1]) : (ends[1], ends[0])
        return """
            <NavigationProperty Name="\(name)" Relationship="Field.\(association)" FromRole="\(from)" ToRole="\(to)"/>
            """
    }

    private static func association(_ name: String, _ first: String, _ second: String, _ key: String?) -> String {
        let ends = name.split(separator: "_")
        let constraint = key.map {
            """
            <ReferentialConstraint>
            <Principal Role="\(ends[0])"><PropertyRef Name="\($0)"/></Principal>
            <Dependent Role="\(ends[1])"><PropertyRef Name="\($0)"/></Dependent>
            </ReferentialConstraint>
            """
        }
        return """
            <Association Name="\(name)">
            <End Role="\(ends[0])" Type="Field.\(ends[0])" Multiplicity="\(first)"/>
            <End Role="\(ends[1])" Type="Field.\(ends[1])" Multiplicity="\(second)"/>
            \(constraint ?? "")
            </Association>
            """
    }

    private static func associationSet(_ name: String) -> String {
        let ends = name.split(separator: "_")
        return """
            <AssociationSet Name="\(name)" Association="Field.\(name)">
            <End Role="\(ends[0])" EntitySet="\(ends[0])s"/>
            <End Role="\(ends[1])" EntitySet="\(ends[1])s"/>
            </AssociationSet>
            """
    }
}
